"""The fast lane of a reader: rows of lines that have the shape of a record which its format has just read."""

from __future__ import annotations

from npueval import logs
from npueval.logs import ranks, streams
from npueval.logs.logbook import Logbook
from npueval.logs.shapes import Shape

_LEAST_PATIENCE, _MOST_PATIENCE = 8, 4096


class Lane:
    """Learns the shape of the records of each format, less and less eagerly where it does not help."""

    def __init__(self, book: Logbook) -> None:
        self._book = book
        self._shapes: dict[logs.RecordFormat, Shape] = {}
        self._patience: dict[logs.RecordFormat, int] = {}
        self._missed: dict[logs.RecordFormat, int] = {}

    def follow(self, form: logs.RecordFormat, text: str, part: bytes, position: int, number: int) -> tuple[int, int]:
        """Read the lines from ``position`` (line ``number``) on that look like ``text``; returns where they end."""
        shape = self._shapes.get(form)
        if shape is not None:
            spans = shape.spans
            last = self._book.last_position(form, spans.phase)
            batch = shape.read(part, position, last, self._book.stamp(form))
            if batch.positions:
                self._patience[form], self._missed[form] = _LEAST_PATIENCE, 0

                def text_of(index: int) -> str:
                    return streams.text_of(batch.lines[index])

                self._book.extend(form, batch, spans, number, text_of)
                return batch.end, number + len(batch.positions)
        self._learn(form, text)
        return position, number

    def _learn(self, form: logs.RecordFormat, text: str) -> None:
        missed = self._missed.get(form, 0) + 1
        patience = self._patience.get(form, _LEAST_PATIENCE)
        self._missed[form] = missed
        if missed < patience:
            return
        self._missed[form], self._patience[form] = 0, min(2 * patience, _MOST_PATIENCE)
        spans = None if ranks.is_named(text) else form.spans(text)
        shape = Shape(text, spans) if spans else None
        if shape is not None and shape.usable:
            self._shapes[form] = shape
