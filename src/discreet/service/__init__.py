"""The service: analysts ask, and never hold the rows.

A front process that holds no rows knows who asks, previews, and hands questions to workers that do. Nothing here
reaches below `session` and the words of `core`.
"""

from discreet.service.door import Door, LocalDoor
from discreet.service.people import Principal, Role
from discreet.service.registry import PersonRecord as PersonRecord
from discreet.service.registry import Registry as Registry
from discreet.service.registry import registry_place as registry_place
from discreet.service.words import AnswerReply, Asked, AskedBatch, PreviewReply

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = ["AnswerReply", "Asked", "AskedBatch", "Door", "LocalDoor", "PreviewReply", "Principal", "Role"]
