"""JSON Schema validation: every violation at once, each naming the one thing that is wrong and its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

Pointer = tuple[str | int, ...]


@dataclass(frozen=True)
class Violation:
    """One departure from a schema.

    ``pointer`` leads to the offending value (for a missing or unknown key: to the object that lacks or holds it, with
    the key in ``key``). ``hint`` names the nearest known key or what would satisfy the schema.
    """

    pointer: Pointer
    message: str
    key: str | None = None
    hint: str | None = None


def violations(instance: Any, schema: Mapping[str, Any]) -> list[Violation]:
    """Everything in which ``instance`` departs from ``schema`` (2020-12), in the order of the instance."""
    errors = _validator(json.dumps(schema)).iter_errors(instance)
    found = {violation: None for error in errors for violation in _explain(error)}
    return sorted(found, key=lambda violation: [str(part) for part in violation.pointer])


def _is_integer(_checker: Any, instance: Any) -> bool:
    """Also ``1.0`` is an integer to JSON Schema, but no count to Python."""
    return isinstance(instance, int) and not isinstance(instance, bool)


_TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
_Strict = extend(Draft202012Validator, type_checker=_TYPES)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=32)
def _validator(schema: str) -> Any:
    return _Strict(json.loads(schema))


def _explain(error: ValidationError) -> Iterator[Violation]:
    explain = _EXPLANATIONS.get(str(error.validator), _as_it_says)
    yield from explain(error)


def _missing_keys(error: ValidationError) -> Iterator[Violation]:
    required: Any = error.validator_value
    instance: Any = error.instance
    for key in required:
        if key not in instance:
            yield Violation(_pointer(error), f"missing {key!r}", key=key)


def _unknown_keys(error: ValidationError) -> Iterator[Violation]:
    schema: Any = error.schema
    known = list(schema.get("properties", ()))
    instance: Any = error.instance
    for key in instance:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            yield Violation(_pointer(error), f"unknown key {key!r}", key=key, hint=hint)


def _missing_item(error: ValidationError) -> Iterator[Violation]:
    wanted: Any = error.validator_value
    name = wanted.get("const", wanted.get("title", wanted.get("pattern")))
    yield Violation(_pointer(error), f"missing {name!r}", key=str(name))


def _alternatives(error: ValidationError) -> Iterator[Violation]:
    """Of several allowed forms, report the mistakes inside the one whose type the value has."""
    forms: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        forms.setdefault(inner.schema_path[0], []).append(inner)
    right_type = [
        form for form in forms.values() if not any(inner.validator == "type" and not inner.path for inner in form)
    ]
    if right_type:
        for inner in right_type[0]:
            yield from _explain(inner)
    else:
        yield from _as_it_says(error)


def _as_it_says(error: ValidationError) -> Iterator[Violation]:
    hint = error.schema.get("description") if isinstance(error.schema, Mapping) else None
    message = error.message if error.validator not in ("anyOf", "oneOf") else f"{error.instance!r} is not allowed here"
    yield Violation(_pointer(error), message, hint=hint)


def _pointer(error: ValidationError) -> Pointer:
    return tuple(error.absolute_path)


_EXPLANATIONS = {
    "required": _missing_keys,
    "additionalProperties": _unknown_keys,
    "contains": _missing_item,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
}
