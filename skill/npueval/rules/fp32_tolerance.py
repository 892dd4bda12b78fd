"""Half precision is not judged by tolerances that only single precision can meet."""

import re
from collections.abc import Iterator

from npueval.rules.base import Documents, Line, Remark, Rule, Value, at
from npueval.rules.wording import plain
from npueval.tolerances import DEFAULTS, HALF_PRECISIONS, Tolerance, too_strict

_NUMBER = r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_SINGLE = re.compile(_NUMBER, re.IGNORECASE)
_NAMED = re.compile(rf"(rtol|atol)\s*(?:[=:]\s*)?{_NUMBER}", re.IGNORECASE)


def check(documents: Documents) -> Iterator[Remark]:
    for line in documents.lines("Compare", "3.1", "建议 rtol", "建议 atol", "说明"):
        precision = plain(line.label)[:4].lower()
        for value, parts in _written(line) if precision in HALF_PRECISIONS else ():
            usual = DEFAULTS[precision]
            reason = too_strict(Tolerance(parts.get("rtol", usual.rtol), parts.get("atol", usual.atol), precision))
            if reason:
                yield at(
                    value, reason, f"{precision.upper()} is usually held to rtol {usual.rtol:g}, atol {usual.atol:g}"
                )


def _written(line: Line) -> Iterator[tuple[Value, dict[str, float]]]:
    rtol, atol, remark = line.cells
    for value, kind in ((rtol, "rtol"), (atol, "atol")):
        if found := _SINGLE.search(plain(value.text)):
            yield value, {kind: float(found[1])}
    named = {kind.lower(): float(number) for kind, number in _NAMED.findall(plain(remark.text))}
    if named:
        yield remark, named


RULE = Rule(
    code="NPE205",
    name="fp32-tolerance-for-half-precision",
    since="0.1.0",
    law=str(__doc__),
    why="""
FP16 carries about three decimal digits, BF16 about two. An absolute tolerance of 1e-5 makes a correct result fail,
and sends people to look for a fault that is not there.
""",
    bad={
        "Compare": """\
### 3.1 Golden 样本（数值一致性）

| 目标精度 | 建议 rtol | 建议 atol | 说明 |
| --- | --- | --- | --- |
| FP16（默认） | 1e-2 | 1e-5 |  |
"""
    },
    good={
        "Compare": """\
### 3.1 Golden 样本（数值一致性）

| 目标精度 | 建议 rtol | 建议 atol | 说明 |
| --- | --- | --- | --- |
| FP16（默认） | 1e-2 | 1e-3 |  |
"""
    },
    check=check,
)
