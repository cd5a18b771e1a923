"""A model file is read whole once, and trusted by size and time after that."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from reasoningbank.embed.minilm import verify
from reasoningbank.errors import ModelFileError

CONTENT = b"weights" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(CONTENT)
    return path


def check(file: Path, stamps: Path) -> None:
    verify(file, SHA256, remedy="install it again", stamps=stamps)


def test_the_second_check_does_not_read_the_file(file: Path, tmp_path: Path) -> None:
    check(file, tmp_path / "stamps")
    kept = file.stat()
    file.write_bytes(b"another" * 1000)
    os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))

    check(file, tmp_path / "stamps")


def test_a_file_that_was_touched_is_read_again(file: Path, tmp_path: Path) -> None:
    check(file, tmp_path / "stamps")
    file.write_bytes(b"another" * 1000)
    os.utime(file, ns=(1, 1))

    with pytest.raises(ModelFileError, match=r"model\.onnx is not the published model .*: install it again"):
        check(file, tmp_path / "stamps")


def test_two_files_have_a_stamp_each(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(CONTENT)

    check(file, tmp_path / "stamps")
    check(other, tmp_path / "stamps")

    assert len(list((tmp_path / "stamps").iterdir())) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"file": 3}', "\x00"])
def test_a_damaged_stamp_means_a_new_check(file: Path, tmp_path: Path, content: str) -> None:
    check(file, tmp_path / "stamps")
    (stamp,) = (tmp_path / "stamps").iterdir()
    stamp.write_text(content)
    check(file, tmp_path / "stamps")

    assert "sha256" in stamp.read_text()


def test_where_no_stamp_can_be_written_the_file_is_read_each_time(file: Path, tmp_path: Path) -> None:
    (tmp_path / "stamps").write_text("a file where the folder should be")

    check(file, tmp_path / "stamps")
    file.write_bytes(b"another")

    with pytest.raises(ModelFileError):
        check(file, tmp_path / "stamps")


def test_a_file_that_cannot_be_read_is_named_with_the_cause(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.onnx cannot be read \(No such file or directory\)"):
        check(tmp_path / "gone.onnx", tmp_path / "stamps")
