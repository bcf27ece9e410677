"""A Gate with a friendly face: `discreet.open(...)` makes a Session, which answers questions with tables and errors."""

from discreet.accounting import loss_to_text as loss_to_text
from discreet.gate import ANALYST_FAILURES as ANALYST_FAILURES
from discreet.gate import Ledger as Ledger
from discreet.gate import Price as Price
from discreet.gate import Receipt as Receipt
from discreet.gate import ShareRequest as ShareRequest
from discreet.gate import certificate as certificate
from discreet.gate import cost_words as cost_words
from discreet.gate import plan_digest as plan_digest
from discreet.gate.ledger.views import Gauge as Gauge
from discreet.gate.ledger.views import standing_of as standing_of
from discreet.query import QueryPlan as QueryPlan
from discreet.query import Rho as Rho
from discreet.query import find_constants as find_constants
from discreet.session.answers.answer import Answer
from discreet.session.answers.cells import error_text as error_text
from discreet.session.counters import Counter, Counts
from discreet.session.declared import AnyBounds as AnyBounds
from discreet.session.declared import column_of as column_of
from discreet.session.declared import read_bounds as read_bounds
from discreet.session.declared import read_kind as read_kind
from discreet.session.descriptions import Description
from discreet.session.engine import Engine as Engine
from discreet.session.facts.codec import read_facts, write_facts
from discreet.session.facts.public_facts import PublicFacts
from discreet.session.facts.rowless import NoRows
from discreet.session.ledgers import ledger_beside as ledger_beside
from discreet.session.misfits import MisfitReport, report_misfits
from discreet.session.opening import open_session
from discreet.session.opening import open_settings as open_settings
from discreet.session.options import QuestionOptions, ReleaseOptions
from discreet.session.previews import Preview
from discreet.session.remote.connecting import connect
from discreet.session.remote.connecting import open_client as open_client
from discreet.session.remote.refusals import Busy, NotAllowed, NotFound, NotYet, PaymentOff, TooMany, Unreachable
from discreet.session.remote.remote_session import RemoteSession
from discreet.session.reports.report import Exhibit as Exhibit
from discreet.session.reports.report import write_report as write_report
from discreet.session.session import Session
from discreet.session.settings.file import read_settings, write_settings
from discreet.session.settings.file import table_name as table_name
from discreet.session.settings.settings import Settings
from discreet.session.standings import MOST_RELEASES as MOST_RELEASES
from discreet.session.standings import AccountReply, ReleaseFacts
from discreet.session.standings import ShareFacts as ShareFacts
from discreet.session.standings import list_payments as list_payments
from discreet.session.work import Work as Work
from discreet.session.work import work_of as work_of
from discreet.session.workloads import BatchAnswer, HierarchyAnswer, WorkloadPreview

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "AccountReply",
    "Answer",
    "BatchAnswer",
    "Busy",
    "Counter",
    "Counts",
    "Description",
    "HierarchyAnswer",
    "MisfitReport",
    "NoRows",
    "NotAllowed",
    "NotFound",
    "NotYet",
    "PaymentOff",
    "Preview",
    "PublicFacts",
    "QuestionOptions",
    "ReleaseFacts",
    "ReleaseOptions",
    "RemoteSession",
    "Session",
    "Settings",
    "TooMany",
    "Unreachable",
    "WorkloadPreview",
    "connect",
    "open_session",
    "read_facts",
    "read_settings",
    "report_misfits",
    "write_facts",
    "write_settings",
]
