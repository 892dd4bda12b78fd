"""A file made anew is there whole, or as it was, with nothing beside it."""

import pytest

from npueval import atomic


def test_what_was_written_takes_the_place_of_the_old_file(tmp_path):
    path = tmp_path / "new" / "file.bin"
    for content in (b"first", b"second"):
        with atomic.replacing(path) as staged:
            staged.write_bytes(content)
            assert not path.exists() or path.read_bytes() == b"first"
        assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["file.bin"]


@pytest.mark.parametrize("written", [False, True], ids=["before the first byte", "after it"])
def test_what_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, written):
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="no room"), atomic.replacing(path) as staged:
        if written:
            staged.write_bytes(b"ne")
        raise OSError("no room")
    assert path.read_bytes() == b"old" and [each.name for each in tmp_path.iterdir()] == ["file.bin"]
