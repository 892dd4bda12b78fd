"""What reading a line may cost at most: twice as long, about twice the time, whatever stands in it.

Times are those of the processor and only held against each other: four times the text may take up to eight times as
long, where a square would take sixteen. A busy machine gets several tries.
"""

import gc
import importlib
import inspect
import pkgutil
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from npueval import baselines, logs, metrics
from npueval.logs.ambient import Ambient
from npueval.logs.base import Format, LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.reading import Reader

PIECES = (
    *("a", "1", " ", "\t", ".", ":", "=", "-", "_a", "[", "(", "{", "|", "'", "#", "e", "数", "\b", "]", "} ", "~"),
    *("a ", "1 ", "1,", "a: ", "a:1 ", "x=", "=1", "- ", "1/1 [", "0.", "/a", "a/", "a.", "a-", "-a:", "(a", "a;"),
    *("1:", "{'", "{}", "'a", "'a' ", "'a': ", '"a": 1, ', "a's ", "a b c: ", "1:2:", "::", "1 day, ", "-1.", "= = "),
    *("% ", "loss ", "loss: ", "step 1 ", "epoch 1/", "Epoch [1]", "iter 1: ", "ips: ", "2023-01-01 ", "\x1b[0m"),
)
USES: dict[str, Callable[[re.Pattern[Any], Any], Any]] = {
    "search": lambda pattern, text: pattern.search(text),
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "findall": lambda pattern, text: pattern.findall(text),
    "finditer": lambda pattern, text: deque(pattern.finditer(text), maxlen=0),
    "sub": lambda pattern, text: pattern.sub(text[:0], text),
}
FORMATS = (*logs.MEMBERS, *logs.LAST_RESORT, logs.PRINTED, Ambient)
LINE_FORMATS = [member for member in FORMATS if issubclass(member, LineFormat)]


def modules() -> Iterator[ModuleType]:
    for package in (logs, baselines):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)
    yield metrics


def patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from patterns(each)


def uses() -> Iterator[Any]:
    """Every pattern of the family with each way in which its module uses it."""
    seen = set()
    for module in modules():
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            how = set(re.findall(rf"\b{name}\.(\w+)\(", source)) & USES.keys() or {"finditer"}
            for pattern in patterns(value):
                for use in sorted(how):
                    if (pattern, use) not in seen:
                        seen.add((pattern, use))
                        yield pytest.param(pattern, USES[use], id=f"{module.__name__}.{name}.{use}")


def seconds(work: Callable[[Any], object], text: Any) -> float:
    before = time.process_time()
    work(text)
    return time.process_time() - before


def grows_linearly(work: Callable[[Any], object], whole: Any, quarter: Any) -> bool:
    """Whether a text costs no more than eight times its quarter."""
    large = small = float("inf")
    for _ in range(10):
        large, small = min(large, seconds(work, whole)), min(small, seconds(work, quarter))
        if large <= 8 * small:
            return True
    return False


def repeated(piece: str, size: int) -> str:
    return piece * (size // len(piece) + 1)


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """What the collector of garbage does costs more, the more there is."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(("pattern", "use"), [*uses()])
def test_no_pattern_is_super_linear(pattern: re.Pattern[Any], use: Callable[[re.Pattern[Any], Any], Any]) -> None:
    """Every piece over and over; then a mebibyte of the costliest."""

    def text(piece: str, size: int) -> Any:
        return repeated(piece, size) if isinstance(pattern.pattern, str) else repeated(piece, size).encode()

    def work(text: Any) -> object:
        return use(pattern, text)

    for piece in PIECES:
        assert grows_linearly(work, text(piece, 8 << 10), text(piece, 2 << 10)), f"{piece!r} over and over"
    costliest = max(PIECES, key=lambda piece: seconds(work, text(piece, 8 << 10)))
    assert grows_linearly(work, text(costliest, 1 << 20), text(costliest, 256 << 10)), f"a mebibyte of {costliest!r}"


def beginnings(member: type[Format]) -> Iterator[str]:
    """Whole records and the first of their fields, so that what comes after them is read by every pattern."""
    yield ""
    for sample in member.samples:
        yield from (sample, sample[: 2 * len(sample) // 3])


@pytest.mark.parametrize("member", LINE_FORMATS, ids=lambda member: member.name)
def test_no_format_is_super_linear(member: type[LineFormat]) -> None:
    for beginning in beginnings(member):
        for piece in PIECES:

            def work(text: str) -> None:
                form, book = member(), Logbook("hostile")
                book.at(1, text, form)
                form.read(text, book)

            whole, quarter = (beginning + repeated(piece, size) for size in (8 << 10, 2 << 10))
            assert grows_linearly(work, whole, quarter), f"{beginning!r} and {piece!r} repeated"


@pytest.mark.parametrize("member", FORMATS, ids=lambda member: member.name)
def test_a_line_of_a_mebibyte_costs_no_more_than_its_bytes(member: type[Format]) -> None:
    def work(text: bytes) -> None:
        reader = Reader("hostile", [member()])
        reader.read(text + b"\n")
        assert reader.lines == 1

    sample = member.samples[0]
    for piece in (sample, member.needles[0], "a: "):
        whole, quarter = ((sample + repeated(piece, size)).encode() for size in (1 << 20, 256 << 10))
        assert grows_linearly(work, whole, quarter), f"{sample!r} and {piece!r} repeated"
