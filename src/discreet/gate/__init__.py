"""The one door: Plan, Gate, Ledger, accounts, Release.

Prices, pays, runs and releases. Never sees SQL text or what a plan computes.
"""

from discreet.gate.accounts.charges import ChargedTable
from discreet.gate.accounts.personal_terms import Account, DatasetAccount, PersonalAccount
from discreet.gate.accounts.statements import AccountStatement, Distribution
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.gate import Gate, Price
from discreet.gate.ledger.anchors import Anchor
from discreet.gate.ledger.ledger import Ledger
from discreet.gate.ledger.moving import finish_move, move
from discreet.gate.ledger.verification import Verification
from discreet.gate.plans import PersonalPlan, Plan, SteppedPlan
from discreet.gate.proofs.certificates import Certified, certificate, check_certificate
from discreet.gate.proofs.exports import Exported, check_export, export_lines
from discreet.gate.proofs.inspection import Inspection, inspect_ledger
from discreet.gate.releases import Receipt, Release

__all__ = [
    "Account",
    "AccountStatement",
    "Anchor",
    "Budget",
    "Certified",
    "ChargedTable",
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
    "SteppedPlan",
    "Verification",
    "certificate",
    "check_certificate",
    "check_export",
    "export_lines",
    "finish_move",
    "inspect_ledger",
    "move",
]
