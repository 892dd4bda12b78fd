"""Outputs against their reference: verdicts, reasons, and the place to look at first."""

import tracemalloc

import numpy as np
import pytest

from npueval.arrays import from_memory
from npueval.errors import FormatError, NpuevalError
from npueval.golden import compare, compare_files
from npueval.tolerances import tolerance

FP32 = tolerance("fp32")
RANDOM = np.random.default_rng(6)
LOGITS = RANDOM.normal(size=(32, 10))
IMAGES = RANDOM.normal(size=(4, 3, 8, 8))
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
KEPT = RANDOM.random(LOGITS.shape) < 0.7


def held(ref, hyp, limit=FP32, **wishes):
    return compare({"output": from_memory(ref)}, {"output": from_memory(hyp)}, limit, **wishes)


def several(ref, hyp, limit=FP32):
    return compare(*({name: from_memory(value) for name, value in side.items()} for side in (ref, hyp)), limit)


@pytest.mark.parametrize(
    ("ref", "hyp", "place", "words"),
    [
        (IMAGES, IMAGES.transpose(0, 2, 3, 1), "layout", "axes as (0, 2, 3, 1)"),
        (IMAGES, IMAGES.transpose(0, 2, 3, 1).reshape(IMAGES.shape), "layout", "one layout (NCHW, NHWC) taken"),
        (IMAGES, IMAGES.reshape(4, -1), "layout", "another shape"),
        (IMAGES, RANDOM.permutation(IMAGES.ravel()).reshape(IMAGES.shape), "layout", "in different places"),
        (IMAGES, IMAGES[:, ::-1], "preprocessing", "RGB against BGR"),
        (IMAGES, (IMAGES * 0.3762 + 0.3053 - 0.3762) / 0.3053, "preprocessing", "1.232 x reference + -0.2322"),
        (SHARES, LOGITS, "output head", "softmax is missing"),
        (LOGITS, SHARES, "output head", "once more"),
        (LOGITS, np.where(KEPT, LOGITS / 0.7, 0), "quantisation and operators", "dropout"),
        (LOGITS, np.where(KEPT, LOGITS, np.nan), "quantisation and operators", "overflows"),
        (LOGITS * 1e5, np.where(KEPT, LOGITS, np.inf), "quantisation and operators", "exceeds 65504"),
        (LOGITS, LOGITS + 0.01 * RANDOM.normal(size=LOGITS.shape), "quantisation and operators", "same direction"),
    ],
)
def test_a_fault_that_the_numbers_show_is_named(ref, hyp, place, words):
    golden = held(ref, hyp)
    assert not golden.passed
    assert (golden.symptoms[0].place, golden.symptoms[0].head) == (place, "output")
    assert words in golden.symptoms[0].text.en


def test_what_shows_no_known_fault_is_not_guessed_at():
    assert held(LOGITS, RANDOM.normal(size=LOGITS.shape)).symptoms == ()
    assert held(np.array([2**53]), np.array([2**53 + 1])).symptoms == ()


def test_swapped_heads_are_named():
    golden = several({"digit": LOGITS, "parity": LOGITS[::-1] ** 2}, {"digit": LOGITS[::-1] ** 2, "parity": LOGITS})
    assert [(s.head, s.place) for s in golden.symptoms] == [("digit", "output head"), ("parity", "output head")]
    assert "head parity" in golden.symptoms[0].text.en


def test_of_a_golden_set_the_earliest_stage_is_blamed():
    right = {"inputs": IMAGES, "preprocess": IMAGES / 2, "infer": LOGITS, "postprocess": LOGITS.argmax(1)}
    wrong = right | {"preprocess": IMAGES[:, ::-1] / 2, "infer": -LOGITS, "postprocess": LOGITS.argmin(1)}
    golden = several(right, wrong)
    assert [head.name for head in golden.failed] == ["preprocess", "infer", "postprocess"]
    assert {symptom.head for symptom in golden.symptoms} == {"preprocess"}
    assert "what preprocessing makes of them" in golden.symptoms[0].text.en
    assert "BGR" in golden.symptoms[1].text.en
    assert several(right, right | {"inputs": -IMAGES}).symptoms[0].place == "inputs"


def test_nothing_is_broadcast():
    golden = held(np.zeros((3, 4)), np.zeros((1, 4)))
    assert not golden.passed
    assert golden.heads[0].reason.en == "shapes differ: reference (3, 4), hypothesis (1, 4)"
    assert golden.heads[0].difference is None
    assert not held(np.zeros(()), np.zeros(1)).passed


def test_kinds_do_not_mix_but_widths_do():
    assert held(LOGITS, LOGITS.astype(np.float16), tolerance("fp16")).passed
    assert held(np.arange(5, dtype=np.int32), np.arange(5)).passed
    for ref, hyp in ((LOGITS, LOGITS > 0), (np.arange(5), np.arange(5.0)), (LOGITS, LOGITS + 0j)):
        golden = held(ref, hyp)
        assert "types do not compare" in golden.heads[0].reason.en
        assert [symptom.place for symptom in golden.symptoms] == ["output head"]
    assert "types do not compare" in held(np.arange(5), np.arange(5, dtype=np.uint64)).heads[0].reason.en


def test_types_that_differ_and_halves_held_to_single_precision_are_noted():
    half = LOGITS.astype(np.float16)
    assert [note.en for note in held(LOGITS, half, tolerance("fp16")).notes] == [
        "the types differ: output (reference float64, hypothesis float16)"
    ]
    (note,) = held(half, half, FP32).notes
    assert note.en.startswith("held to the tolerances of FP32, but of a half precision: output")
    assert held(half, half, tolerance("fp16")).notes == held(LOGITS, LOGITS).notes == ()


def test_class_indices_are_equal_or_wrong():
    labels = np.array([100, 200, 300])
    golden = held(labels, labels + 1, tolerance("fp16"))
    assert golden.heads[0].reason.en == "3 of 3 elements (100.00%) not equal"
    assert held(labels, labels + 1, tolerance("int8", rtol=0, atol=1)).passed


def test_nan_in_the_reference_is_said():
    values = np.array([1.0, np.nan])
    assert "reference holds 1 NaN" in held(values, values).heads[0].reason.en
    assert held(values, values, equal_nan=True).passed
    assert "1 more NaN or Inf" in held(np.ones(2), values).heads[0].reason.en


def test_nothing_compared_is_nothing_passed():
    empty = held(np.zeros((0, 3)), np.zeros((0, 3)))
    assert not empty.passed
    assert "is empty" in empty.notes[0].en
    assert empty.invalid[0].en == "nothing was compared: every output is empty"
    assert "shapes differ" in held(np.zeros((0, 3)), np.zeros((0, 4))).heads[0].reason.en
    assert several({"a": np.zeros(0), "b": np.zeros(1)}, {"a": np.zeros(0), "b": np.zeros(1)}).passed


def test_heads_that_only_one_side_has():
    golden = several({"a": LOGITS, "b": LOGITS}, {"a": LOGITS, "c": LOGITS})
    assert [head.passed for head in golden.heads] == [True, False]
    assert "has no such head" in golden.heads[1].reason.en
    assert golden.notes[0].en.endswith(": c")
    assert [(symptom.place, symptom.head) for symptom in golden.symptoms] == [("output head", "b")]
    many = several({"a": LOGITS}, dict.fromkeys("abcdefgh", LOGITS))
    assert many.notes[0].en == "not in the reference, so not compared: b, c, d, e, f, and 2 more"
    lone = compare({"output": from_memory(LOGITS)}, {"logits": from_memory(LOGITS)}, FP32)
    assert lone.passed


def test_top1_of_tables_and_of_a_named_axis():
    assert held(LOGITS, LOGITS[:, ::-1]).heads[0].difference.top1 == np.mean(
        LOGITS.argmax(1) == LOGITS[:, ::-1].argmax(1)
    )
    assert held(IMAGES, IMAGES).heads[0].difference.top1 is None
    assert held(IMAGES, IMAGES, axis=1).heads[0].difference.top1 == 1.0
    with pytest.raises(NpuevalError, match="no output has an axis 9 of classes: the most is 4 dimensions"):
        held(IMAGES, IMAGES, axis=9)
    with pytest.raises(NpuevalError, match="none is of floating point"):
        held(np.arange(4), np.arange(4), axis=0)
    assert held(LOGITS.argmax(1), LOGITS.argmax(1)).heads[0].difference.top1 is None


def test_files_in_different_order_and_form(tmp_path):
    np.save(tmp_path / "ref.npy", np.asfortranarray(LOGITS))
    np.savez(tmp_path / "hyp.npz", logits=LOGITS)
    assert compare_files(tmp_path / "ref.npy", tmp_path / "hyp.npz", FP32).passed
    off = LOGITS.copy()
    off[3, 7] += 1
    np.save(tmp_path / "off.npy", np.asfortranarray(off))
    golden = compare_files(tmp_path / "ref.npy", tmp_path / "off.npy", FP32)
    assert golden.heads[0].difference.worst[0].index == (3, 7)
    with pytest.raises(FormatError, match="No such file"):
        compare_files(tmp_path / "ref.npy", tmp_path / "absent.npy", FP32)


def test_memory_stays_flat_whatever_the_size(tmp_path):
    values = np.arange(4_000_000, dtype=np.float32)
    np.savez(tmp_path / "ref.npz", values)
    np.save(tmp_path / "hyp.npy", values)
    tracemalloc.start()
    golden = compare_files(tmp_path / "ref.npz", tmp_path / "hyp.npy", FP32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert golden.passed
    assert peak < values.nbytes / 2
