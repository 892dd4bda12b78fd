"""Which texts are ours: kept over a file, over changed labels, and told apart from a person's."""

import json
from pathlib import Path

import pytest

from npueval.errors import FormatError
from npueval.patching.ledger import BY_HAND, PATH, Entry, Ledger


@pytest.fixture
def ledger() -> Ledger:
    return Ledger().changed(
        [
            Entry.of("Compare#4/延迟 p50 (ms)/NPU（迁移后）", "12.3", "run-1"),
            Entry.of("Compare#2.3/Warmup 次数", "10", "run-2"),
            Entry.of("Compare#2.3/统计量", "p50", BY_HAND),
            Entry.of("Compare#8/路径", "无", ""),
        ]
    )


def test_it_knows_our_text_under_a_label_written_otherwise(ledger: Ledger) -> None:
    entry = ledger.get("Compare#4/延迟P50（ms）/npu(迁移后)")

    assert entry and entry.holds("12.3") and not entry.holds("12.4")
    assert ledger.get("Compare#4/延迟 p95 (ms)/NPU（迁移后）") is None


def test_it_is_read_back_as_it_was_written(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / PATH).parent.mkdir()
    (tmp_path / PATH).write_bytes(ledger.to_bytes())

    assert Ledger.load(tmp_path) == ledger
    assert Ledger.load(tmp_path / "elsewhere") == Ledger()
    assert json.loads(ledger.to_bytes())["format"] == "npueval/ledger/1"
    assert ledger.to_bytes().count(b"\n") == len(ledger.entries) + 2


def test_an_address_can_be_forgotten(ledger: Ledger) -> None:
    assert ledger.changed([], ["compare#2.3/warmup次数"]).get("Compare#2.3/Warmup 次数") is None


def test_stale_is_what_came_from_a_run_that_is_no_longer_current(ledger: Ledger) -> None:
    assert [entry.address for entry in ledger.stale({"run-2"})] == ["Compare#4/延迟 p50 (ms)/NPU（迁移后）"]
    assert not ledger.stale({"run-1", "run-2"})


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (b"{", "not a ledger"),
        (b"[]", "not a ledger"),
        (b'{"format": "npueval/ledger/1", "entries": [{}]}', "not a ledger"),
        (b'{"format": "npueval/ledger/2", "entries": []}', "and this release reads 'npueval/ledger/1'"),
    ],
)
def test_another_file_is_refused(held: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        Ledger.read(held, Path(PATH))
