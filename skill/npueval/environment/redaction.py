"""Take secrets, user names, host names and addresses out of text that will be stored or shown."""

from __future__ import annotations

import getpass
import re
import socket
from functools import lru_cache

_HOMES = re.compile(r"(?P<base>/home|/Users|[A-Za-z]:\\Users)(?P<slash>[/\\])[^/\\\s:;'\"]+")
_SECRETS = (
    re.compile(r"(?P<keep>://)[^/\s:@]+(:[^/\s@]*)?(?=@)"),
    re.compile(
        r"(?P<keep>\b[\w-]*(?:token|secret|passw(?:or)?d|passwd|api[_-]?key|access[_-]?key|credential)[\w-]*"
        r"[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]+",
        re.I,
    ),
    re.compile(r"(?P<keep>\bBearer\s+)\S+", re.I),
    re.compile(r"(?P<keep>)\b(?:sk-|ghp_|gho_|hf_|glpat-|AKIA)[A-Za-z0-9_-]{12,}"),
)
_ADDRESSES = (
    re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"),
    re.compile(r"(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", re.I),
    re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])fe80::[0-9a-f:]+", re.I),
)


def redact(text: str, *, addresses: bool = True) -> str:
    """``text`` without secrets, names of people and machines, and network addresses.

    ``addresses=False`` is for output where four-part version numbers stand (they look like IPv4 addresses).
    """
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<keep><secret>", text)
    text = _HOMES.sub(r"\g<base>\g<slash><user>", text)
    for pattern in _ADDRESSES if addresses else ():
        text = pattern.sub("<address>", text)
    for name, stand_in in _names():
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", stand_in, text)
    return text


@lru_cache(maxsize=1)
def _names() -> tuple[tuple[str, str], ...]:
    """This machine's own names. ``root`` and names of one or two letters are words, not names."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    pairs = ((user, "<user>"), (socket.gethostname(), "<host>"))
    return tuple((name, stand_in) for name, stand_in in pairs if len(name) > 2 and name not in ("root", "localhost"))
