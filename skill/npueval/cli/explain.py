"""``npueval explain``."""

from __future__ import annotations

from difflib import get_close_matches

import click

from npueval.cli.base import Reply, verb
from npueval.errors import NpuevalError
from npueval.rules import RULES, Rule


@verb("explain")
@click.argument("code")
def command(code: str) -> Reply:
    """Show what a rule of `npueval lint` wants, why, and an example of each kind.

    CODE is the rule's code or name.

    \b
    Example:  npueval explain NPE201
              npueval explain bare-not-applicable
    """
    rule = _find(code)
    data = {key: getattr(rule, key) for key in ("code", "name", "since", "law", "why")}
    return Reply({**data, "page": rule.page()}, text=rule.page())


def _find(code: str) -> Rule:
    known = {name.lower(): rule for rule in RULES for name in (rule.code, rule.name)}
    if code.lower() not in known:
        near = get_close_matches(code.lower(), known, n=1)
        hint = f"did you mean {known[near[0]].code}?" if near else f"codes: {', '.join(rule.code for rule in RULES)}"
        raise NpuevalError(f"no rule is called {code!r}", code="UNKNOWN_RULE", hint=hint)
    return known[code.lower()]
