"""What ``npu-smi`` says: its tables of every layout we know, its key-value pages, and its refusals.

Nothing here guesses: a row that cannot be read makes the health ``UNKNOWN``, never ``OK``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from npueval.host import Host

Cells = list[str]
_TITLE = re.compile(r"\bnpu-smi\s+(?P<tool>\d\S*)(?:\s+Version:\s*(?P<driver>\S+))?")
_SHARE = re.compile(r"(\d+)\s*/\s*(\d+)")
_LABELS_THAT_HOLD_BLANKS = ("Name", "Process name")
_OUTSIDE_PATH = ("/usr/local/sbin/npu-smi", "/usr/local/bin/npu-smi", "/usr/local/Ascend/driver/tools/npu-smi")


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
    """One answer of ``npu-smi info``. ``problems`` are rows that could not be read; ``doubts`` are oddities."""

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


_REFUSALS = (
    (re.compile(r"ret is -8020|because the device is used", re.I), Outcome.OCCUPIED),
    (re.compile(r"LibraryNotFound|cannot open shared object|loading shared libraries", re.I), Outcome.LIBRARY_MISSING),
    (re.compile(r"permission denied|operation not permitted|requires? root", re.I), Outcome.NOT_PERMITTED),
    (re.compile(r"dcmi \w+ initiali[sz]ed? failed|ret is -8005|DrvMng\w+ failed", re.I), Outcome.NOT_VISIBLE),
)


def query(host: Host, *, timeout_s: float = 20.0) -> Reading:
    """Ask the machine's npu-smi once (``npu-smi info``, read-only)."""
    program = host.which("npu-smi", *_OUTSIDE_PATH)
    if program is None:
        return Reading(Outcome.NOT_FOUND)
    ran = host.run([program, "info"], timeout_s=timeout_s)
    if ran.timed_out:
        return Reading(Outcome.TIMED_OUT, raw=ran.output)
    return parse(ran.output, status=ran.status or 0)


def parse(text: str, *, status: int = 0) -> Reading:
    """Read the output of ``npu-smi info``, whatever its exit ``status`` was."""
    title = _TITLE.search(text)
    tables = list(_tables(text))
    chips, problems = _chips(tables)
    processes, doubts = _processes(tables)
    if status and chips:
        doubts.append(f"npu-smi ended with status {status} although it printed a table")
    return Reading(
        _outcome(text, has_title=title is not None, has_chips=bool(chips), has_problems=bool(problems)),
        tool=title["tool"] if title else None,
        driver=title["driver"] if title else None,
        chips=tuple(chips),
        processes=tuple(processes),
        problems=tuple(problems),
        doubts=tuple(doubts),
        raw=text,
    )


def _outcome(text: str, *, has_title: bool, has_chips: bool, has_problems: bool) -> Outcome:
    if has_chips:
        return Outcome.READ
    refusal = next((outcome for pattern, outcome in _REFUSALS if pattern.search(text)), None)
    if refusal:
        return refusal
    return Outcome.NO_DEVICE if has_title and not has_problems else Outcome.UNREADABLE


@dataclass(frozen=True)
class _Table:
    """A header (one list of cells a line) and the groups of rows between the rules below it."""

    header: list[Cells]
    groups: list[list[Cells]]


def _tables(text: str) -> Iterator[_Table]:
    rows: list[Cells] = []
    table: _Table | None = None
    for line in (line.strip() for line in text.split("\n")):
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif line.startswith("+") and rows:
            if line.startswith("+=") and _is_header(rows):
                table = _Table(rows, [])
                yield table
            elif table is not None:
                table.groups.append(rows)
            rows = []
    if rows and table is not None:
        table.groups.append(rows)


def _is_header(rows: list[Cells]) -> bool:
    return rows[0][0].split()[:1] == ["NPU"]


def _chips(tables: Sequence[_Table]) -> tuple[list[Chip], list[str]]:
    chips: list[Chip] = []
    problems: list[str] = []
    for table in tables:
        if _has(table, "Health"):
            read = [_read_chip(table.header, rows) for rows in _records(table)]
            chips += [chip for chip in read if isinstance(chip, Chip)]
            problems += [problem for problem in read if isinstance(problem, str)]
            if not _has(table, "Chip"):
                problems.append("the table has no chip rows: no npu-smi that we know prints this layout")
    return chips, problems


def _read_chip(header: list[Cells], rows: list[Cells]) -> Chip | str:
    """The chip, or what is wrong with its rows."""
    try:
        return _chip(_values(header, rows))
    except (KeyError, ValueError) as error:
        return f"cannot read the row {' | '.join(rows[0])!r}: {error}"


def _has(table: _Table, label: str) -> bool:
    return any(label in cell.split() for row in table.header for cell in row)


def _records(table: _Table) -> Iterator[list[Cells]]:
    """The rows of one chip each: as many as the header has lines, or one where the second line names no chip."""
    height = len(table.header) if _has(table, "Chip") else 1
    for group in table.groups:
        for start in range(0, len(group), height):
            yield group[start : start + height]


def _values(header: list[Cells], rows: list[Cells]) -> dict[str, str]:
    values: dict[str, str] = {}
    if len(rows) < len(header) and any("Chip" in cell.split() for cell in header[-1]):
        raise ValueError("the line of its chip is missing")
    for labels, cells in zip(header, rows, strict=False):
        values |= _aligned(labels, cells) if len(labels) == len(cells) else _flat(labels, cells)
    return values


def _aligned(labels: Cells, cells: Cells) -> dict[str, str]:
    values: dict[str, str] = {}
    for label, cell in zip(labels, cells, strict=True):
        names = re.split(r"\s{2,}", label)
        tokens = _tokens(cell)
        if names[-1] in _LABELS_THAT_HOLD_BLANKS and len(tokens) > len(names):
            tokens = [*tokens[: len(names) - 1], " ".join(tokens[len(names) - 1 :])]
        values |= _paired(names, tokens)
    return values


def _flat(labels: Cells, cells: Cells) -> dict[str, str]:
    names = [name for label in labels for name in label.split()]
    return _paired(names, [token for cell in cells for token in _tokens(cell)])


def _tokens(cell: str) -> list[str]:
    return _SHARE.sub(r"\1/\2", cell).split()


def _paired(names: Sequence[str], tokens: Sequence[str]) -> dict[str, str]:
    if len(names) != len(tokens):
        raise ValueError(f"{len(tokens)} values for the columns {', '.join(names)}")
    return dict(zip(names, tokens, strict=True))


def _chip(values: Mapping[str, str]) -> Chip:
    memory_used, memory_total = _share(values.get("Memory-Usage(MB)"))
    hbm_used, hbm_total = _share(values.get("HBM-Usage(MB)"))
    return Chip(
        npu=int(values["NPU"]),
        chip=int(values.get("Chip", 0)),
        name=values["Name"],
        health=Health.of(values["Health"]),
        device=_whole(values.get("Device") or values.get("Phy-ID")),
        bus_id=values.get("Bus-Id"),
        power_w=_number(values.get("Power(W)")),
        temperature_c=_number(values.get("Temp(C)")),
        aicore_percent=_number(values.get("AICore(%)")),
        memory_used_mb=memory_used,
        memory_total_mb=memory_total,
        hbm_used_mb=hbm_used,
        hbm_total_mb=hbm_total,
    )


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d+(\.\d+)?", text) else None


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _share(text: str | None) -> tuple[int | None, int | None]:
    """Used and total; ``0 / 0`` is how a layout says that the device has no memory of this kind."""
    found = _SHARE.fullmatch(text or "")
    return (int(found[1]), int(found[2])) if found and int(found[2]) else (None, None)


def _processes(tables: Sequence[_Table]) -> tuple[list[Process], list[str]]:
    found: list[Process] = []
    doubts: list[str] = []
    for table in tables:
        if any("Process id" in cell for row in table.header for cell in row):
            for row in (row for group in table.groups for row in group if len(row) > 1):
                process = _process(row)
                if process:
                    found.append(process)
                else:
                    doubts.append(f"cannot read the process row {' | '.join(row)!r}")
    return found, doubts


def _process(row: Cells) -> Process | None:
    place, pid = row[0].split(), row[1]
    if len(row) != 4 or len(place) != 2 or not all(part.isdecimal() for part in (*place, pid)):
        return None
    return Process(int(place[0]), int(place[1]), int(pid), row[2], _whole(row[3]))


@dataclass(frozen=True)
class ChipHealth:
    """One entry of ``npu-smi info -t health``; ``chip`` is ``None`` for the board's controller (MCU)."""

    npu: int | None
    chip: int | None
    health: Health
    error_code: str | None = None


def parse_health(text: str) -> tuple[ChipHealth, ...]:
    """Read ``npu-smi info -t health -i ID [-c CHIP]``. No entry: nothing is known, which is not "all is well"."""
    npu: int | None = None
    chip: int | None = None
    found: list[ChipHealth] = []
    for label, value in re.findall(r"^[ \t]*([A-Za-z][A-Za-z ]*?)[ \t]*:[ \t]*(\S.*?)[ \t]*\r?$", text, re.M):
        if label == "NPU ID":
            npu = _whole(value)
        elif label == "Chip ID":
            chip = _whole(value)
        elif label in ("Health", "Health Status"):
            found.append(ChipHealth(npu, chip, Health.of(value)))
            chip = None
        elif label == "Error Code" and found and value not in ("NA", "-"):
            found[-1] = ChipHealth(found[-1].npu, found[-1].chip, found[-1].health, value)
    return tuple(found)


_FAMILIES = (
    ("310P", r"310P"),
    ("310B", r"310B"),
    ("310", r"310(?!\d)"),
    ("A2", r"910B"),
    ("A3", r"910C|910_93"),
    ("950", r"950(DT|PR)?"),
    ("910", r"910(A|Pro[AB])?(?!\w)"),
)


def family(name: str, *, chips_per_npu: int = 1) -> str | None:
    """The product family of a printed device name, or ``None`` where the name is not one we know.

    ``Ascend910`` alone is ambiguous: with two chips a card it is an A3 (910C), else the first 910.
    """
    if re.fullmatch(r"Ascend\s?910", name, re.I) and chips_per_npu > 1:
        return "A3"
    return next((label for label, pattern in _FAMILIES if re.search(pattern, name, re.I)), None)
