"""The service: analysts ask, and never hold the rows.

A front process that holds no rows knows who asks, previews, and hands questions to workers that do. Nothing here
reaches below `session` and the words of `core`.
"""

from discreet.service.door import Door, LocalDoor
from discreet.service.people import Principal, Role
from discreet.service.words import AnswerReply, Asked, AskedBatch, PreviewReply

__all__ = ["AnswerReply", "Asked", "AskedBatch", "Door", "LocalDoor", "PreviewReply", "Principal", "Role"]
