import pytest

from npueval.contracts import Violation, violations

PERSON = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "age"],
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "description": "years"},
        "tags": {"type": "array", "contains": {"const": "verified"}},
        "home": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["street"]}]},
    },
}


def test_a_valid_instance_has_no_violations() -> None:
    assert violations({"name": "Li", "age": 3, "tags": ["verified"], "home": None}, PERSON) == []


def test_every_violation_is_reported_with_its_own_key() -> None:
    found = violations({"nme": "Li", "tags": []}, PERSON)
    assert {(violation.pointer, violation.message) for violation in found} == {
        ((), "missing 'name'"),
        ((), "missing 'age'"),
        ((), "unknown key 'nme'"),
        (("tags",), "missing 'verified'"),
    }
    assert [violation.hint for violation in found if violation.key == "nme"] == ["did you mean 'name'?"]


def test_an_unknown_key_without_a_neighbour_lists_the_known_ones() -> None:
    [found] = violations({"name": "Li", "age": 1, "zzzz": 0}, PERSON)
    assert found.hint == "known keys: name, age, tags, home"


def test_a_violation_inside_an_alternative_is_the_one_reported() -> None:
    [found] = violations({"name": "Li", "age": 1, "home": {}}, PERSON)
    assert found == Violation(("home",), "missing 'street'", key="street")


@pytest.mark.parametrize("age", [-1, "three", 1.5, 1.0, 1e300, True])
def test_a_wrong_value_carries_the_description_as_hint(age: object) -> None:
    [found] = violations({"name": "Li", "age": age}, PERSON)
    assert found.pointer == ("age",)
    assert found.hint == "years"
