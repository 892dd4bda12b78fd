"""Each rule, by the examples that its own page shows."""

from pathlib import Path

import pytest

from npueval.documents.labels import fold
from npueval.documents.layout import HOMES
from npueval.linting import lint
from npueval.rules import RULES, Rule
from npueval.rules.base import Example

PATHS = {home.name: home.path for home in HOMES} | {"env": "env.md"}


def codes(folder: Path, example: Example) -> set[str]:
    for name, content in example.items():
        path = folder / PATHS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return {finding.code for finding in lint([folder])}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_bad_example_breaks_the_rule_and_the_good_one_keeps_it(rule: Rule, tmp_path: Path) -> None:
    assert rule.code in codes(tmp_path / "bad", rule.bad)
    assert rule.code not in codes(tmp_path / "good", rule.good)


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert len({fold(rule.name) for rule in RULES}) == len(RULES)


def test_every_rule_file_is_a_member_and_named_like_its_rule() -> None:
    folder = Path(str(RULES[0].check.__code__.co_filename)).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base", "wording"}
    assert files == {Path(rule.check.__code__.co_filename).stem for rule in RULES}
