"""A Gate with a friendly face: `discreet.open(...)` makes a Session, which answers questions with tables and errors."""

from discreet.session.answers.answer import Answer
from discreet.session.counters import Counter, Counts
from discreet.session.descriptions import Description
from discreet.session.opening import open_session
from discreet.session.options import QuestionOptions, ReleaseOptions
from discreet.session.previews import Preview
from discreet.session.session import Session
from discreet.session.settings.file import read_settings, write_settings
from discreet.session.settings.settings import Settings
from discreet.session.workloads import BatchAnswer, HierarchyAnswer, WorkloadPreview

__all__ = [
    "Answer",
    "BatchAnswer",
    "Counter",
    "Counts",
    "Description",
    "HierarchyAnswer",
    "Preview",
    "QuestionOptions",
    "ReleaseOptions",
    "Session",
    "Settings",
    "WorkloadPreview",
    "open_session",
    "read_settings",
    "write_settings",
]
