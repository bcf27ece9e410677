"""The one door: Plan, Gate, Ledger, accounts, Release.

Prices, pays, runs and releases. Never sees SQL text or what a plan computes.
"""

from discreet.gate.accounts import Account, DatasetAccount, PersonalAccount
from discreet.gate.anchors import Anchor
from discreet.gate.budgets import Budget, Policy
from discreet.gate.certificates import Certified, certificate, check_certificate
from discreet.gate.exports import Exported, check_export, export_lines
from discreet.gate.gate import Gate, Price
from discreet.gate.inspection import Inspection, inspect_ledger
from discreet.gate.ledger import Ledger
from discreet.gate.moving import finish_move, move
from discreet.gate.plans import PersonalPlan, Plan, SteppedPlan
from discreet.gate.releases import Receipt, Release
from discreet.gate.statements import Distribution, Statement
from discreet.gate.takings import Taking
from discreet.gate.verification import Verification

__all__ = [
    "Account",
    "Anchor",
    "Budget",
    "Certified",
    "DatasetAccount",
    "Distribution",
    "Exported",
    "Gate",
    "Inspection",
    "Ledger",
    "PersonalAccount",
    "PersonalPlan",
    "Plan",
    "Policy",
    "Price",
    "Receipt",
    "Release",
    "Statement",
    "SteppedPlan",
    "Taking",
    "Verification",
    "certificate",
    "check_certificate",
    "check_export",
    "export_lines",
    "finish_move",
    "inspect_ledger",
    "move",
]
