"""The fast lane of a reader: rows of lines that have the shape of a record which its format has just read."""

from __future__ import annotations

from npueval import logs
from npueval.logs import ranks, streams
from npueval.logs.logbook import Logbook
from npueval.logs.shapes import Shape

LONGEST_SHAPE = 4096
_LEAST_PATIENCE, _MOST_PATIENCE = 8, 4096


class Lane:
    """Learns the shape of the records of each format, less and less eagerly where it does not help."""

    def __init__(self, book: Logbook) -> None:
        self._book = book
        self._latest: logs.RecordFormat | None = None
        self._shapes: dict[logs.RecordFormat, Shape] = {}
        self._patience: dict[logs.RecordFormat, int] = {}
        self._missed: dict[logs.RecordFormat, int] = {}

    def at(self, part: bytes, position: int, number: int) -> tuple[int, int]:
        """Read the lines from ``position`` (line ``number``) on that look like the latest record; returns where they
        end."""
        form = self._latest
        shape = self._shapes.get(form) if form else None
        if form is None or shape is None or not self._book.is_open(form):
            return position, number
        spans = shape.spans
        batch = shape.read(part, position, self._book.last_position(form, spans.phase), self._book.stamp(form))
        if not batch.lines:
            return position, number
        self._patience[form], self._missed[form] = _LEAST_PATIENCE, 0

        def text_of(index: int) -> str:
            return streams.text_of(batch.lines[index])

        self._book.extend(form, batch, spans, number, text_of)
        return batch.end, number + len(batch.lines)

    def after(self, form: logs.RecordFormat, text: str, part: bytes, position: int, number: int) -> tuple[int, int]:
        """Read the lines after ``text``, a record of this format, that look like it."""
        shape = self._shapes.get(form)
        # What differs from the shape may have changed what the format takes the lines after it for.
        self._latest = form if shape is not None and shape.fits(text) else None
        end, following = self.at(part, position, number)
        if end == position:
            self._learn(form, text)
        return end, following

    def _learn(self, form: logs.RecordFormat, text: str) -> None:
        missed = self._missed.get(form, 0) + 1
        patience = self._patience.get(form, _LEAST_PATIENCE)
        self._missed[form] = missed
        if missed < patience:
            return
        self._missed[form], self._patience[form] = 0, min(2 * patience, _MOST_PATIENCE)
        spans = None if len(text) > LONGEST_SHAPE or ranks.is_named(text) else form.spans(text)
        shape = Shape(text, spans, loose=form in self._shapes) if spans else None
        if shape is not None and shape.usable:
            self._shapes[form] = shape
