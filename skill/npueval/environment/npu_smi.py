"""What ``npu-smi info`` says: its tables of every layout we know, and its refusals.

Nothing here guesses: a row that cannot be read makes the health ``UNKNOWN``, never ``OK``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from npueval.environment.boxtables import SHARE, Cells, Table, ends_open, tables, values
from npueval.environment.npu_names import family

_TITLE = re.compile(r"\bnpu-smi\s+(?P<tool>\d\S*)(?:\s+Version:\s*(?P<driver>\S+))?")


class Health(str, Enum):
    """The five states that npu-smi prints, mildest first."""

    OK = "OK"
    WARNING = "Warning"
    ALARM = "Alarm"
    CRITICAL = "Critical"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def of(cls, printed: str) -> Health:
        """The state that a printed word stands for; anything else is ``UNKNOWN``."""
        return next((state for state in cls if state.value.upper() == printed.strip().upper()), cls.UNKNOWN)


class Outcome(str, Enum):
    """How the question to npu-smi ended."""

    READ = "read"
    NOT_FOUND = "not found"
    NOT_VISIBLE = "not visible here"
    OCCUPIED = "occupied"
    LIBRARY_MISSING = "library missing"
    NOT_PERMITTED = "not permitted"
    TIMED_OUT = "timed out"
    NO_DEVICE = "no device listed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Chip:
    """One chip. ``(npu, chip)`` is its key: two chips may share a bus id, and card numbers need not start at 0.

    Memory in MB, power in W, temperature in °C; ``None`` where the layout has no such column or prints ``NA``.
    ``device`` is the number that programs use (columns ``Device`` or ``Phy-ID``).
    """

    npu: int
    chip: int
    name: str
    health: Health
    device: int | None = None
    bus_id: str | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    aicore_percent: float | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None

    @property
    def key(self) -> tuple[int, int]:
        return self.npu, self.chip


@dataclass(frozen=True)
class Process:
    """A process that holds device memory."""

    npu: int
    chip: int
    pid: int
    name: str
    memory_mb: int | None


@dataclass(frozen=True)
class Reading:
    """One answer of ``npu-smi info``.

    ``problems`` are why it is not known what the chips are like: rows that could not be read, a table that may not be
    all of it. ``doubts`` are oddities that leave the chips' states as they are.
    """

    outcome: Outcome
    tool: str | None = None
    driver: str | None = None
    chips: tuple[Chip, ...] = ()
    processes: tuple[Process, ...] = ()
    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    raw: str = ""

    @property
    def health(self) -> Health:
        """The worst state of all chips; ``UNKNOWN`` as soon as anything could not be read."""
        if self.outcome is not Outcome.READ or self.problems or not self.chips:
            return Health.UNKNOWN
        return max((chip.health for chip in self.chips), key=list(Health).index)

    @property
    def families(self) -> frozenset[str]:
        """The product families of the chips, as far as their names tell."""
        cards = [chip.npu for chip in self.chips]
        found = (family(chip.name, chips_per_card=cards.count(chip.npu)) for chip in self.chips)
        return frozenset(name for name in found if name)


# Noise beside a table, a refusal where there is none.
_NOISE = re.compile(r"DrvMng\w+ failed", re.I)
_REFUSALS = (
    (re.compile(r"ret is -8020|because the device is used", re.I), Outcome.OCCUPIED),
    (re.compile(r"LibraryNotFound|cannot open shared object|loading shared libraries", re.I), Outcome.LIBRARY_MISSING),
    (re.compile(r"permission denied|operation not permitted|requires? root", re.I), Outcome.NOT_PERMITTED),
    (re.compile(r"dcmi \w+ initiali[sz]ed? failed|ret is -8005", re.I), Outcome.NOT_VISIBLE),
    (_NOISE, Outcome.NOT_VISIBLE),
)


def parse(text: str, *, status: int = 0) -> Reading:
    """Read the output of ``npu-smi info``, whatever its exit ``status`` was."""
    title = _TITLE.search(text)
    found = list(tables(text, "NPU"))
    chips, problems = _chips(found)
    if chips:
        problems += _broken(text, status, chips)
    processes, doubts = _processes(found)
    if any(table.has("Health") and not table.has("Chip") for table in found):
        doubts.append("the table has no chip rows: no npu-smi that we know prints this layout")
    if chips and (noise := _NOISE.search(text)):
        doubts.append(f"npu-smi also says {noise[0]!r}")
    return Reading(
        _outcome(text, found, has_chips=bool(chips), has_problems=bool(problems)),
        tool=title["tool"] if title else None,
        driver=title["driver"] if title else None,
        chips=tuple(chips),
        processes=tuple(processes),
        problems=tuple(problems),
        doubts=tuple(doubts),
        raw=text,
    )


def _outcome(text: str, found: Sequence[Table], *, has_chips: bool, has_problems: bool) -> Outcome:
    if has_chips:
        return Outcome.READ
    refusal = next((outcome for pattern, outcome in _REFUSALS if pattern.search(text)), None)
    if refusal:
        return refusal
    empty = any(table.has("Health") and table.has("Chip") and not table.groups for table in found)
    return Outcome.NO_DEVICE if empty and not has_problems else Outcome.UNREADABLE


def _broken(text: str, status: int, chips: Sequence[Chip]) -> Iterator[str]:
    """Why a table with chips in it may not tell the truth about all of them."""
    if ends_open(text):
        yield "the table is cut off: no rule closes it, so that more chips may have followed"
    if status:
        yield f"npu-smi ended with status {status} although it printed a table"
    refusals = (pattern.search(text) for pattern, _ in _REFUSALS if pattern is not _NOISE)
    yield from (f"npu-smi printed a table and says {said[0]!r} as well" for said in refusals if said)
    keys = [chip.key for chip in chips]
    for npu, chip in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield f"NPU {npu} chip {chip} is listed {keys.count((npu, chip))} times"


def _chips(found: Sequence[Table]) -> tuple[list[Chip], list[str]]:
    chips: list[Chip] = []
    problems: list[str] = []
    for table in (table for table in found if table.has("Health")):
        known = table.has("Chip")
        read = [_read_chip(table.header, rows, known) for rows in table.records(len(table.header) if known else 1)]
        chips += [chip for chip in read if isinstance(chip, Chip)]
        problems += [problem for problem in read if isinstance(problem, str)]
    return chips, problems


def _read_chip(header: list[Cells], rows: list[Cells], known: bool) -> Chip | str:
    """The chip, or what is wrong with its rows. What an unknown layout says of its health is not believed."""
    try:
        columns = values(header, rows)
        return _chip(columns if known else {**columns, "Chip": "0", "Health": Health.UNKNOWN.value})
    except KeyError as error:
        problem = f"no value for {error.args[0]}"
    except ValueError as error:
        problem = str(error)
    return f"cannot read the row {' | '.join(rows[0])!r}: {problem}"


def _chip(columns: Mapping[str, str]) -> Chip:
    memory_used, memory_total = _share(columns.get("Memory-Usage(MB)"))
    hbm_used, hbm_total = _share(columns.get("HBM-Usage(MB)"))
    return Chip(
        npu=int(columns["NPU"]),
        chip=int(columns["Chip"]),
        name=columns["Name"],
        health=Health.of(columns["Health"]),
        device=whole(columns.get("Device") or columns.get("Phy-ID")),
        bus_id=columns.get("Bus-Id"),
        power_w=_number(columns.get("Power(W)")),
        temperature_c=_number(columns.get("Temp(C)")),
        aicore_percent=_number(columns.get("AICore(%)")),
        memory_used_mb=memory_used,
        memory_total_mb=memory_total,
        hbm_used_mb=hbm_used,
        hbm_total_mb=hbm_total,
    )


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d+(\.\d+)?", text) else None


def whole(text: str | None) -> int | None:
    """A cell that is nothing but digits."""
    return int(text) if text and text.isdecimal() else None


def _share(text: str | None) -> tuple[int | None, int | None]:
    """Used and total; ``0 / 0`` is how a layout says that the device has no memory of this kind."""
    found = SHARE.fullmatch(text or "")
    return (int(found[1]), int(found[2])) if found and int(found[2]) else (None, None)


def _processes(found: Sequence[Table]) -> tuple[list[Process], list[str]]:
    rows = [row for table in found if table.has("Process id") for [row] in table.records(1) if len(row) > 1]
    read = [(_process(row), row) for row in rows]
    doubts = [f"cannot read the process row {' | '.join(row)!r}" for process, row in read if process is None]
    return [process for process, _ in read if process], doubts


def _process(row: Cells) -> Process | None:
    place, pid = row[0].split(), row[1]
    if len(row) != 4 or len(place) != 2 or not all(part.isdecimal() for part in (*place, pid)):
        return None
    return Process(int(place[0]), int(place[1]), int(pid), row[2], whole(row[3]))
