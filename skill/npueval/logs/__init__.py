"""The log formats we read, the most telling first; the last resort is tried only where nothing else fits."""

from __future__ import annotations

from npueval.logs.ambient import Ambient
from npueval.logs.base import Format, Journal
from npueval.logs.keyvalue_trainer import KeyValueTrainer

MEMBERS: tuple[type[Format], ...] = (KeyValueTrainer,)
LAST_RESORT: tuple[type[Format], ...] = ()
AMBIENT = Ambient

__all__ = ["AMBIENT", "LAST_RESORT", "MEMBERS", "Format", "Journal"]
