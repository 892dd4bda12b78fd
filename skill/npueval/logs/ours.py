"""What this tool prints quotes figures and is no evidence of any, wherever it was caught in a file."""

from __future__ import annotations

import re
from pathlib import Path

from npueval.logs.streams import Stream, Unreadable, open_log

_LOOK = 64 << 10
_SAID = re.compile(
    r'"format": ?"npueval/[a-z0-9-]+/\d'
    r"|^npueval/[a-z0-9-]+/\d+,"
    r"|^ +(?:batch=\S+ concurrency=\d+|command)\b.{0,200}?: (?:n=\d+, |no sample \()"
    r"|^warning: wall time of a whole command: it never compares"
    r"|^ +(?:ok|FAILED|N/A) +(?:inference|training) \w[\w ]{0,40}: "
    r"|^\d+\. \S.{0,300}:\d+-\d+  \S.{0,80}, grade [A-D-]"
    r"|^rejected  \S.{0,300}: \S"
    r"|^\d+ logs read, \d+ candidates$"
    r"|^(?:doubt: |run )\S.{0,300}:\d+-\d+  \S"
    r"|^(?:性能|精度|总体)：(?:通过|有条件通过|待定|不通过)（"
    r"|^(?:AUTO|MANUAL_STOP|UNKNOWN): (?:(?:不能|可)直接执行测试|tests can(?:not)? run here)$"
    r"|^## (?:未执行原因|Why nothing was executed|1\. 测量范围|1\. Scope of the measurement)$"
    r"|^(?:Compare|Summary|Mig_report|Mig_readme|environment)#\S.{0,200}\t"
    r"|^(?:passed|FAILED): .{0,200}\btolerances?\b"
    r"|^short test, step \d+: \w+ "
    r"|^(?:passed|failed|undecided|fine|more|stop): .{0,200}\(95 % interval "
    r"|^(?:ok  |FAIL) 测试包清单|^grade [A-D]: .{1,300}\.json"
    r"|^head +shape +max abs +mean abs",
    re.MULTILINE,
)


def first_line(stream: Stream) -> int | None:
    """The number of the first line that only an answer of this tool holds; ``None`` where there is none."""
    text = stream.head[:_LOOK].decode(stream.encoding, "replace").replace("\r\n", "\n")
    found = _SAID.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else None


def wrote(path: Path) -> bool:
    """Whether a file is text that this tool printed."""
    try:
        with open_log(path) as stream:
            return first_line(stream) is not None
    except Unreadable:
        return False
