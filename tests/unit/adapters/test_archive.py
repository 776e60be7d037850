from __future__ import annotations

import gzip
import io
import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.archive import Bounds, repack, safe_name, unpack
from gpu_lol_action.errors import TransientError, UserError

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "c" * 40


def member(name: str, **facts: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in facts.items():
        setattr(made, key, value)
    return made


def packed(folder: Path, *entries: tarfile.TarInfo | tuple[str, bytes], commit: str | None = COMMIT) -> Path:
    """A tarball as GitHub makes it: the commit in the global header, everything below one folder."""
    path = folder / "archive.tar.gz"
    headers = {"comment": commit} if commit else {}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers) as tar:
        tar.addfile(member("lab-ccccccc/", type=tarfile.DIRTYPE))
        for entry in entries:
            if isinstance(entry, tuple):
                name, content = entry
                tar.addfile(member(name, size=len(content), mode=0o755), io.BytesIO(content))
            else:
                tar.addfile(entry, io.BytesIO(b"x" * entry.size) if entry.size else None)
    return path


def unpacked_names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_files_are_written_without_the_top_folder_and_cannot_run(tmp_path: Path, out: Path) -> None:
    path = packed(tmp_path, ("lab-ccccccc/run.sh", b"#!/bin/sh\n"), ("lab-ccccccc/a/b/ü.py", b"1"))
    result = unpack(path, out, COMMIT)

    assert unpacked_names(out) == {"run.sh", "a/b/ü.py"}
    assert (result.files, result.total_bytes, dict(result.skipped)) == (2, 11, {})
    assert (out / "run.sh").stat().st_mode & 0o7111 == 0


def test_links_and_devices_are_passed_over_and_counted(tmp_path: Path, out: Path) -> None:
    path = packed(
        tmp_path,
        member("lab-ccccccc/soft", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("lab-ccccccc/hard", type=tarfile.LNKTYPE, linkname="lab-ccccccc/a.py"),
        member("lab-ccccccc/pipe", type=tarfile.FIFOTYPE),
        member("lab-ccccccc/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        ("lab-ccccccc/a.py", b"1"),
    )
    result = unpack(path, out, COMMIT)

    assert unpacked_names(out) == {"a.py"}
    assert dict(result.skipped) == {"links": 2, "devices": 2}


@pytest.mark.parametrize(
    "name",
    [
        "/etc/cron.d/x",
        "lab-ccccccc/../../x",
        "../x",
        "lab-ccccccc/a/../../../x",
        "lab-ccccccc/./x",
        "lab-ccccccc//x",
        "lab-ccccccc/a\nb",
        "lab-ccccccc/a\x1b[31m",
        "lab-ccccccc/" + "d" * 256,
        "lab-ccccccc/" + "/".join(["d" * 200] * 6),
    ],
)
def test_names_that_leave_or_trick_are_passed_over(tmp_path: Path, out: Path, name: str) -> None:
    result = unpack(packed(tmp_path, (name, b"evil"), ("lab-ccccccc/ok.py", b"1")), out, COMMIT)

    assert unpacked_names(out) == {"ok.py"}
    assert unpacked_names(tmp_path) == {"archive.tar.gz", "out/ok.py"}
    assert dict(result.skipped) == {"unsafe names": 1}


def test_undecodable_name_is_unsafe() -> None:
    assert safe_name("top/caf\udce9.py", 100) is None
    assert safe_name("top/café.py", 100) == "café.py"


def test_file_cannot_take_the_place_of_another(tmp_path: Path, out: Path) -> None:
    path = packed(
        tmp_path,
        ("lab-ccccccc/a", b"first"),
        ("lab-ccccccc/a", b"second"),
        ("lab-ccccccc/a/b", b"below a file"),
    )
    result = unpack(path, out, COMMIT)

    assert (out / "a").read_bytes() == b"first"
    assert dict(result.skipped) == {"names that clash": 2}


def test_oversized_file_is_passed_over_and_the_rest_read(tmp_path: Path, out: Path) -> None:
    megabyte = 1024 * 1024
    path = packed(tmp_path, ("lab-ccccccc/big", os.urandom(2 * megabyte)), ("lab-ccccccc/a.py", b"1"))
    result = unpack(path, out, COMMIT, Bounds(file_bytes=megabyte))

    assert unpacked_names(out) == {"a.py"}
    assert dict(result.skipped) == {"files over 1 MB": 1}


def test_too_many_files_are_refused(tmp_path: Path, out: Path) -> None:
    path = packed(tmp_path, *[(f"lab-ccccccc/{number}", b"") for number in range(11)])

    with pytest.raises(UserError, match="repository_too_large") as caught:
        unpack(path, out, COMMIT, Bounds(files=10))
    assert caught.value.explanation.why == "over 10 files"


def test_too_many_bytes_are_refused(tmp_path: Path, out: Path) -> None:
    megabyte = 1024 * 1024
    path = packed(tmp_path, *[(f"lab-ccccccc/{number}", os.urandom(megabyte)) for number in range(3)])

    with pytest.raises(UserError, match="repository_too_large"):
        unpack(path, out, COMMIT, Bounds(total_bytes=2 * megabyte))


def test_bomb_is_stopped_while_it_is_read(tmp_path: Path, out: Path) -> None:
    """A gigabyte of zeros in one oversized, so skipped, file: skipping must not mean reading it all."""
    path = packed(tmp_path, commit=COMMIT)
    size = 1024 * 1024 * 1024
    with gzip.open(path, "wb") as bomb:
        with io.BytesIO() as raw:
            with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": COMMIT}) as tar:
                tar.addfile(member("lab-ccccccc/", type=tarfile.DIRTYPE))
            bomb.write(raw.getvalue()[: tarfile.BLOCKSIZE * 3])
        bomb.write(member("lab-ccccccc/zeros", size=size).tobuf(tarfile.PAX_FORMAT))
        block = bytes(1024 * 1024)
        for _ in range(80):
            bomb.write(block)

    with pytest.raises(UserError, match="repository_too_large") as caught:
        unpack(path, out, COMMIT)
    assert caught.value.explanation.why == "it unpacks to more than 300 times its size"


@pytest.mark.parametrize("commit", ["d" * 40, None])
def test_archive_of_another_commit_is_refused_before_anything_is_written(
    tmp_path: Path, out: Path, commit: str | None
) -> None:
    path = packed(tmp_path, ("lab-ccccccc/a.py", b"1"), commit=commit)

    with pytest.raises(TransientError, match="archive_of_another_commit"):
        unpack(path, out, COMMIT)
    assert unpacked_names(out) == set()


@pytest.mark.parametrize("damage", ["cut", "garbage", "text"])
def test_damaged_archive_is_one_error(tmp_path: Path, out: Path, damage: str) -> None:
    path = packed(tmp_path, ("lab-ccccccc/a.bin", os.urandom(200_000)))
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[:-5000], "garbage": whole[:50_000] + b"?" * 150_000, "text": b"<html>"}[damage])

    with pytest.raises(TransientError, match="archive_damaged"):
        unpack(path, out, COMMIT)


def test_repacked_tar_is_the_same_tree_with_its_links(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        ("lab-ccccccc/run.sh", b"#!/bin/sh\n"),
        member("lab-ccccccc/data", type=tarfile.SYMTYPE, linkname="/mnt/data"),
        member("lab-ccccccc/pipe", type=tarfile.FIFOTYPE),
        member("lab-ccccccc/setuid", size=1, mode=0o4644, uid=1000, uname="ada"),
    )
    made = repack(path, tmp_path / "code.tar.gz", COMMIT)
    with tarfile.open(made) as tar:
        members = {entry.name: entry for entry in tar}

    assert set(members) == {"run.sh", "data", "setuid"}
    assert members["data"].linkname == "/mnt/data"
    assert (members["run.sh"].mode, members["setuid"].mode) == (0o755, 0o644)
    assert (members["setuid"].uid, members["setuid"].uname) == (0, "")
    assert not (tmp_path / "code.tar.gz.partial").exists()


def test_repacking_refuses_a_file_below_a_link(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        member("lab-ccccccc/etc", type=tarfile.SYMTYPE, linkname="/etc"),
        ("lab-ccccccc/etc/cron.d/x", b"evil"),
    )
    with pytest.raises(TransientError, match=r"archive_damaged.*below the link"):
        repack(path, tmp_path / "code.tar.gz", COMMIT)
    assert not (tmp_path / "code.tar.gz").exists()
