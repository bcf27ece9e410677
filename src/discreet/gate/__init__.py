"""The one door: Plan, Gate, Ledger, accounts, Release.

Prices, pays, runs and releases. Never sees SQL text or what a plan computes.
"""

from discreet.gate.accounts.charges import ChargedTable
from discreet.gate.accounts.charges import Prospect as Prospect
from discreet.gate.accounts.personal_terms import Account, DatasetAccount, PersonalAccount
from discreet.gate.accounts.statements import USAGE_PARTS as USAGE_PARTS
from discreet.gate.accounts.statements import AccountStatement, Distribution
from discreet.gate.accounts.statements import Charge as Charge
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.budget import budget_fields as budget_fields
from discreet.gate.entries.budget import budget_of as budget_of
from discreet.gate.entries.budget import least_by_default as least_by_default
from discreet.gate.entries.cost_text import cost_words as cost_words
from discreet.gate.entries.cost_text import figure_text as figure_text
from discreet.gate.entries.events import Annotated as Annotated
from discreet.gate.entries.events import Copied as Copied
from discreet.gate.entries.events import Entitling as Entitling
from discreet.gate.entries.events import Payment as Payment
from discreet.gate.entries.events import Released as Released
from discreet.gate.entries.events import from_body as from_body
from discreet.gate.entries.runs import ANALYST_FAILURES as ANALYST_FAILURES
from discreet.gate.entries.runs import LEDGER_FAILURES as LEDGER_FAILURES
from discreet.gate.entries.shares import OpenRequest as OpenRequest
from discreet.gate.gate import Gate, Price
from discreet.gate.ledger.anchors import Anchor
from discreet.gate.ledger.ledger import Ledger
from discreet.gate.ledger.moving import finish_move, move
from discreet.gate.ledger.opening import places_of as places_of
from discreet.gate.ledger.sharing import ShareRequest, Sharing
from discreet.gate.ledger.state import LedgerState as LedgerState
from discreet.gate.ledger.verification import PROGRESS_EVERY as PROGRESS_EVERY
from discreet.gate.ledger.verification import Verification
from discreet.gate.pacing import UNPACED as UNPACED
from discreet.gate.pacing import Pacer as Pacer
from discreet.gate.plans import MOST_WORDS as MOST_WORDS
from discreet.gate.plans import PersonalPlan, Plan, SteppedPlan
from discreet.gate.plans import need_label as need_label
from discreet.gate.plans import plan_digest as plan_digest
from discreet.gate.proofs.certificates import Certified, certificate, check_certificate
from discreet.gate.proofs.exports import Exported, check_export, export_lines
from discreet.gate.proofs.inspection import Inspection, inspect_ledger
from discreet.gate.releases import Receipt, Release
from discreet.gate.releases import decode as decode
from discreet.gate.releases import encode as encode
from discreet.gate.releases import one_line as one_line
from discreet.gate.stores.protocol import SERVER as SERVER
from discreet.gate.stores.thread_queue import without_frames as without_frames

# For users. What is imported above as itself (`name as name`) is for other rooms.
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
    "ShareRequest",
    "Sharing",
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
