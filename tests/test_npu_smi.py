"""npu-smi's tables, pages and refusals; each sample lies beside the reading it must give."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.environment import npu_health, npu_names, npu_query, npu_smi
from npueval.environment.host import Host
from npueval.environment.npu_smi import Health, Outcome
from npueval.plaindata import to_plain

SAMPLES = sorted((Path(__file__).parent / "data" / "npu_smi").glob("*.txt"))
TABLE = next(path for path in SAMPLES if path.stem == "a2_no_device_column").read_text(encoding="utf-8")


def shown(reading: npu_smi.Reading) -> dict[str, object]:
    plain = to_plain(reading)
    del plain["raw"]
    chips = [{key: value for key, value in chip.items() if value is not None} for chip in plain["chips"]]
    return {"health": reading.health.value, **plain, "chips": chips}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_sample(sample: Path) -> None:
    expected = json.loads(sample.with_suffix(".json").read_text(encoding="utf-8"))
    assert shown(npu_smi.parse(sample.read_text(encoding="utf-8"))) == expected


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_windows_line_ends_change_nothing(sample: Path) -> None:
    text = sample.read_text(encoding="utf-8")
    assert shown(npu_smi.parse(text.replace("\n", "\r\n"))) == shown(npu_smi.parse(text))


def test_two_chips_that_share_a_bus_are_two() -> None:
    text = next(path for path in SAMPLES if path.stem.startswith("310p")).read_text(encoding="utf-8")
    assert [chip.key for chip in npu_smi.parse(text).chips] == [(4, 0), (4, 1)]


def test_a_noise_line_before_a_good_table_is_no_refusal() -> None:
    reading = npu_smi.parse("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n" + TABLE)
    assert (reading.outcome, reading.health) == (Outcome.READ, Health.OK)
    assert "DrvMngGetConsoleLogLevel failed" in reading.doubts[0]


@pytest.mark.parametrize("status", [3, 139, -11])
def test_a_table_of_a_program_that_failed_is_not_healthy(status: int) -> None:
    reading = npu_smi.parse(TABLE, status=status)
    assert f"status {status}" in reading.problems[0]
    assert (reading.health, len(reading.chips)) == (Health.UNKNOWN, 2)


@pytest.mark.parametrize("said", ["dcmi module initialize failed. ret is -8005", "because the device is used"])
@pytest.mark.parametrize("text", ["{}\n" + TABLE, TABLE + "\n{}"], ids=["before", "behind"])
def test_a_refusal_beside_a_table_is_not_healthy(said: str, text: str) -> None:
    reading = npu_smi.parse(text.format(said))
    assert (reading.outcome, reading.health) == (Outcome.READ, Health.UNKNOWN)


@given(st.integers(0, len(TABLE.rstrip()) - 1))
def test_a_table_that_is_cut_anywhere_but_behind_a_whole_rule_is_not_healthy(end: int) -> None:
    text = TABLE[:end]
    whole = len(text.rstrip().rpartition("\n")[2]) == len(TABLE.partition("\n")[0]) and text.rstrip().endswith("=+")
    assert npu_smi.parse(text).health is Health.UNKNOWN or whole


@given(st.integers(0, len(TABLE) - 1), st.integers(1, 200))
def test_a_damaged_table_is_never_better_than_it_was(start: int, length: int) -> None:
    reading = npu_smi.parse(TABLE[:start] + TABLE[start + length :])
    assert reading.health is not Health.OK or all(chip.health is Health.OK for chip in reading.chips)
    assert reading.health is Health.UNKNOWN or reading.chips


@given(st.text(alphabet="|+-= \n0123456789abNPUChipHealthOK/", max_size=300))
def test_noise_is_read_without_an_accident(text: str) -> None:
    reading = npu_smi.parse(text)
    assert reading.outcome is not Outcome.READ or reading.chips


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "\tNPU ID                         : 3\n\tChip Count                     : 2\n\n"
            "\tChip ID                        : 0\n\tHealth                         : OK\n\n"
            "\tChip ID                        : 1\n\tHealth                         : Alarm\n\n"
            "\tHealth                         : OK\n\tChip Name                      : MCU\n",
            [(3, 0, Health.OK, None), (3, 1, Health.ALARM, None), (3, None, Health.OK, None)],
        ),
        (
            "        Health Status                  : Critical\n        Error Code                     : 80E01801\n"
            "        Error Information              : something broke\n",
            [(None, None, Health.CRITICAL, "80E01801")],
        ),
        (
            "        Health Status                  : OK\n        Error Code                     : NA\n",
            [(None, None, Health.OK, None)],
        ),
        ("        Health                         : Splendid\n", [(None, None, Health.UNKNOWN, None)]),
        ("| NPU   Name                | Health        | Power(W) |\n", []),
        ("", []),
    ],
    ids=["a card", "one chip with a code", "one chip", "no such word", "a table's header", "nothing"],
)
def test_health_page(page: str, expected: list[tuple[object, ...]]) -> None:
    found = npu_health.parse_health(page)
    assert [(entry.npu, entry.chip, entry.health, entry.error_code) for entry in found] == expected


@pytest.mark.parametrize(
    ("name", "chips", "family"),
    [
        ("Ascend910B4", 1, "A2"),
        ("910B2C", 1, "A2"),
        ("Ascend910", 2, "A3"),
        ("Ascend910", 1, None),
        ("Ascend910ProB", 1, "910"),
        ("910A", 1, "910"),
        ("Ascend910_9391", 2, "A3"),
        ("310P3", 2, "310P"),
        ("310B1", 1, "310B"),
        ("950DT", 1, "950"),
        ("Ascend901A", 1, None),
    ],
)
def test_family(name: str, chips: int, family: str | None) -> None:
    assert npu_names.family(name, chips_per_card=chips) == family


def program(folder: Path, script: str) -> Host:
    path = folder / "npu-smi"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8", newline="\n")
    path.chmod(0o755)
    return Host(folder, {"PATH": f"{folder}:/usr/bin:/bin"})


def test_query_asks_the_program(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text(TABLE, encoding="utf-8", newline="\n")
    reading = npu_query.query(program(tmp_path, f'[ "$1" = info ] && cat {tmp_path}/table.txt'))
    assert len(reading.chips) == 2


PAGE = "NPU ID : {npu}\\nChip Count : 1\\n\\nChip ID : 0\\nHealth : {state}\\n"


@pytest.mark.parametrize(
    ("npu", "state", "status", "health"),
    [
        (1, "OK", 0, Health.OK),
        (1, "Alarm", 0, Health.ALARM),
        (1, "OK", 1, Health.UNKNOWN),
        (2, "OK", 0, Health.UNKNOWN),
        (1, "???", 0, Health.UNKNOWN),
    ],
)
def test_what_the_table_leaves_open_the_health_page_answers(
    tmp_path: Path, npu: int, state: str, status: int, health: Health
) -> None:
    table = next(path for path in SAMPLES if path.stem == "no_such_layout")
    page = PAGE.format(npu=npu, state=state)
    answer = f"[ \"$*\" = 'info -t health -i 1' ] && printf '{page}'; exit {status}"
    script = f"if [ $# = 1 ]; then cat '{table}'; else {answer}; fi"
    assert npu_query.query(program(tmp_path, script)).health is health


def test_query_hears_a_refusal_whatever_the_status(tmp_path: Path) -> None:
    for status in (0, 1, 255):
        script = f"echo 'dcmi module initialize failed. ret is -8005' >&2; exit {status}"
        assert npu_query.query(program(tmp_path, script)).outcome is Outcome.NOT_VISIBLE


def test_query_does_not_wait_for_ever(tmp_path: Path) -> None:
    assert npu_query.query(program(tmp_path, "sleep 60 & sleep 60"), timeout_s=0.3).outcome is Outcome.TIMED_OUT


def test_query_without_the_program(tmp_path: Path) -> None:
    assert npu_query.query(Host(tmp_path, {"PATH": str(tmp_path)})).outcome is Outcome.NOT_FOUND


def test_rows_that_are_no_process_are_doubts() -> None:
    text = next(path for path in SAMPLES if path.stem.startswith("310p")).read_text(encoding="utf-8")
    reading = npu_smi.parse(text.replace("40711", "4071x"))
    assert reading.processes == ()
    assert "4071x" in reading.doubts[0]
    assert reading.health is Health.WARNING
