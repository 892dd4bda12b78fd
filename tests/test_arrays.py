"""Files of arrays: what is in them comes out, what is wrong with them is said, and nothing is ever unpickled."""

import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from npueval.arrays import Array, from_memory, named
from npueval.errors import FormatError
from npueval.golden.arrayfiles import open_arrays

SAMPLES = {
    "float32": np.arange(12, dtype=np.float32).reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "big_endian": np.arange(5, dtype=">f4"),
    "half": np.array([1.5, -2], np.float16),
    "scalar": np.array(7, np.int64),
    "empty": np.zeros((0, 3), np.float32),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j]),
}


class Trap:
    """Unpickling this leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_was_saved_comes_out(tmp_path, name, save):
    sample = SAMPLES[name]
    np.save(tmp_path / "a.npy", sample)
    save(tmp_path / "a.npz", first=sample, second=sample)
    lone, members = open_arrays(tmp_path / "a.npy"), open_arrays(tmp_path / "a.npz")
    assert list(lone) == ["output"]
    assert list(members) == ["first", "second"]
    for array in (*lone.values(), *members.values()):
        assert array.shape == sample.shape
        np.testing.assert_array_equal(array.read(), sample)
        pieces = [piece.copy() for piece in array.chunks(5)]
        np.testing.assert_array_equal(np.concatenate(pieces or [sample.ravel()]), sample.ravel(array.order))
        assert all(piece.dtype.isnative for piece in pieces)


def test_fortran_order_is_turned_in_memory_only_while_it_fits(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", SAMPLES["fortran"])
    array = open_arrays(tmp_path / "a.npy")["output"]
    assert (array.order, array.in_c_order().order) == ("F", "C")
    np.testing.assert_array_equal(next(array.in_c_order().chunks(99)), np.arange(12.0))
    monkeypatch.setattr("npueval.arrays._LARGEST_TURNED", 11)
    with pytest.raises(FormatError, match="Fortran"):
        array.in_c_order()


def test_tensors_nested_and_of_types_that_numpy_lacks(tmp_path):
    held = {
        "logits": torch.arange(6.0).reshape(2, 3).bfloat16().requires_grad_(),
        "boxes": [torch.tensor([1, 2]), torch.tensor(True)],
        "transposed": torch.arange(6.0).reshape(2, 3).T,
        "half": torch.tensor([1j], dtype=torch.complex64).conj(),
        "epoch": 3,
    }
    torch.save(held, tmp_path / "a.pt")
    torch.save(held["logits"].detach(), tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    found = open_arrays(tmp_path / "a.pt")
    assert list(found) == ["logits", "boxes.0", "boxes.1", "transposed", "half", "epoch"]
    assert (found["logits"].dtype, found["logits"].kind, found["boxes.1"].kind) == ("bfloat16", "real", "bool")
    assert [len(piece) for piece in found["logits"].chunks(4)] == [4, 2]
    np.testing.assert_array_equal(found["logits"].read(), np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(found["transposed"].read(), np.arange(6.0).reshape(2, 3).T)
    np.testing.assert_array_equal(found["half"].read(), [-1j])
    np.testing.assert_array_equal(open_arrays(tmp_path / "old.pth")["output"].read().ravel(), np.arange(6.0))


def test_a_folder_of_samples(tmp_path):
    (tmp_path / "day 1").mkdir()
    np.save(tmp_path / "day 1" / "a.npy", np.zeros(2))
    np.savez(tmp_path / "b.npz", left=np.zeros(1), right=np.ones(1))
    (tmp_path / "readme.txt").write_text("not a sample", encoding="utf-8")
    assert list(open_arrays(tmp_path)) == ["b/left", "b/right", "day 1/a"]


def broken_files(folder: Path, mark: Path) -> dict[str, tuple[Path, str]]:
    folder.mkdir()
    np.save(folder / "object.npy", np.array([Trap(mark)], dtype=object), allow_pickle=True)
    np.savez(folder / "object.npz", a=np.array([Trap(mark)], dtype=object), allow_pickle=True)
    torch.save(Trap(mark), folder / "object.pt")
    (folder / "plain.pt").write_bytes(pickle.dumps(Trap(mark)))
    np.save(folder / "text.npy", np.array(["a"]))
    np.save(folder / "whole.npy", np.zeros(100))
    whole = (folder / "whole.npy").read_bytes()
    (folder / "short.npy").write_bytes(whole[:-8])
    (folder / "header.npy").write_bytes(whole[:40])
    (folder / "lie.npy").write_bytes(whole.replace(b"(100,)", b"(9e9,)"))
    (folder / "noise.npz").write_bytes(b"PK\x03\x04 and nothing more")
    (folder / "noise.pt").write_bytes(b"\x00\x01\x02")
    np.savez(folder / "none.npz")
    (folder / "table.csv").write_text("1,2\n", encoding="utf-8")
    (folder / "empty").mkdir()
    torch.save({"note": "text"}, folder / "note.pt")
    torch.save(torch.eye(3).to_sparse(), folder / "sparse.pt")
    return {
        "object.npy": "unpickling",
        "object.npz": "unpickling",
        "object.pt": "only running code could load it",
        "plain.pt": "only running code could load it",
        "text.npy": "numbers are compared",
        "short.npy": "792 bytes of data where",
        "header.npy": "not a numpy array",
        "lie.npy": "not a numpy array",
        "noise.npz": "damaged",
        "noise.pt": "damaged|code",
        "none.npz": "no arrays",
        "table.csv": ".csv does not hold arrays",
        "empty": "no samples",
        "absent.npy": "No such file",
        "note.pt": "note: holds",
        "sparse.pt": "sparse",
    }


def test_every_broken_file_is_one_clear_error_and_no_code_runs(tmp_path):
    mark = tmp_path / "was unpickled"
    folder = tmp_path / "files"
    for name, words in broken_files(folder, mark).items():
        with pytest.raises(FormatError, match=words) as caught:
            open_arrays(folder / name)
        assert caught.value.path == str(folder / name)
        assert "\n" not in caught.value.message
    assert not mark.exists()


def test_damage_met_while_reading(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", a=np.random.default_rng(0).normal(size=5000))
    raw = bytearray((tmp_path / "a.npz").read_bytes())
    raw[20_000:20_010] = b"\xff" * 10
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(FormatError, match="damaged"):
        open_arrays(tmp_path / "a.npz")["a"].read()
    np.save(tmp_path / "b.npy", np.zeros(1000))
    array = open_arrays(tmp_path / "b.npy")["output"]
    with (tmp_path / "b.npy").open("r+b") as file:
        file.truncate(4000)
    with pytest.raises(FormatError, match="shorter"):
        array.read()


def test_an_encrypted_member_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    raw = bytearray((tmp_path / "a.npz").read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.index(signature) + flags
        raw[place : place + 2] = struct.pack("<H", 1)
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(FormatError, match="damaged, or not what"):
        open_arrays(tmp_path / "a.npz")


def test_a_golden_set_s_other_members_are_no_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("manifest.json", "{}")
    assert list(open_arrays(tmp_path / "a.npz")) == ["a"]


def test_values_in_memory():
    arrays = named({"a": [np.zeros(2), 1.5], "b": torch.ones(3)}, "infer")
    assert {name: array.shape for name, array in arrays.items()} == {
        "infer.a.0": (2,),
        "infer.a.1": (),
        "infer.b": (3,),
    }
    assert isinstance(from_memory(3), Array)
    with pytest.raises(FormatError, match=r"infer\.text: holds"):
        named({"text": "words"}, "infer")
