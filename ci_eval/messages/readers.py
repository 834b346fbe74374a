"""The four doors of this room in one value, for the rooms that may not import it."""

from __future__ import annotations

from typing import Final

from ci_eval.domain.readers import Readers
from ci_eval.messages.actions import read_actions, read_expected_actions
from ci_eval.messages.conversation import read_conversation
from ci_eval.messages.reply import read_reply

READERS: Final = Readers(
    conversation=read_conversation, actions=read_actions, expected_actions=read_expected_actions, reply=read_reply
)
