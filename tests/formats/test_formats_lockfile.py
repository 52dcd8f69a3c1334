"""The lock's text: one way to write it, and nothing else is read."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.codes import CODES
from evalrepo.errors import DataError
from evalrepo.formats import lockfile
from evalrepo.records.lock import Lock, LockLine

SHA = "ab" * 32
OID = "0123456789" * 4


def line(path: str, mode: str = "100644") -> LockLine:
    return LockLine(path, mode, OID, SHA)


TEXT = f"evalrepo-lock 1 sha1\nroot scenarios-reserve\n100644 {OID} {SHA} scenarios-reserve/R1.yaml\n"

parts = st.binary(min_size=1, max_size=6).filter(
    lambda p: p not in (b".", b"..") and b"/" not in p and all(c > 31 and c != 127 for c in p)
)
paths = st.lists(parts, min_size=1, max_size=3).map(lambda p: os.fsdecode(b"/".join(p)))
hexes = {size: st.text("0123456789abcdef", min_size=size, max_size=size) for size in (40, 64)}


@st.composite
def locks(draw) -> Lock:
    object_format, size = draw(st.sampled_from([("sha1", 40), ("sha256", 64)]))
    modes = st.sampled_from(["100644", "100755", "120000"])
    names = draw(st.sets(paths, max_size=4))
    lines = [LockLine(name, draw(modes), draw(hexes[size]), draw(hexes[64])) for name in names]
    return Lock(tuple(draw(st.sets(paths, max_size=3))), tuple(lines), object_format)


def in_order(lock: Lock) -> Lock:
    return Lock(
        tuple(sorted(lock.roots, key=os.fsencode)),
        tuple(sorted(lock.lines, key=lambda entry: os.fsencode(entry.path))),
        lock.object_format,
    )


@given(locks())
@settings(max_examples=80, deadline=None)
def test_a_lock_comes_back_in_order(lock):
    text = lockfile.dump(lock)
    assert lockfile.load(text) == in_order(lock)
    assert lockfile.dump(lockfile.load(text)) == text


def test_the_text_is_made_for_people_and_git():
    assert lockfile.dump(Lock(("scenarios-reserve",), (line("scenarios-reserve/R1.yaml"),))).decode() == TEXT


def test_lines_stand_in_the_order_of_bytes_as_git_has_them():
    lock = Lock((), (line("a/b"), line("a.b"), line("é"), line("z"), line("B")))
    assert [entry.path for entry in lockfile.load(lockfile.dump(lock)).lines] == ["B", "a.b", "a/b", "z", "é"]


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [
        ("", "LCK001", 1),
        (TEXT[:-5], "LCK001", 3),
        ("lock 1 sha1\n", "LCK001", 1),
        ("evalrepo-lock 1 md5\n", "LCK001", 1),
        ("evalrepo-lock 0 sha1\n", "LCK001", 1),
        (TEXT.replace("\n", "\r\n"), "LCK001", 1),
        (TEXT.replace("lock 1", "lock 2"), "LCK002", 1),
        (TEXT + "\n", "LCK003", 4),
        (TEXT + "<<<<<<< HEAD\n", "LCK003", 4),
        (TEXT + "root late\n", "LCK003", 4),
        (TEXT.replace("100644", "160000"), "LCK003", 3),
        (TEXT.replace(OID, SHA), "LCK003", 3),
        (TEXT.replace(OID, OID.replace("0", "G")), "LCK003", 3),
        (TEXT.replace("sha1\n", "sha256\n"), "LCK003", 3),
        (TEXT + TEXT.split("\n")[2] + "\n", "LCK004", 4),
        (TEXT + f"100644 {OID} {SHA} a\n", "LCK004", 4),
        (TEXT.replace("root scen", "root a\nroot Z\nroot scen"), "LCK004", 3),
        (TEXT.replace("R1.yaml", "../x"), "LCK005", 3),
        (TEXT.replace("root s", "root /s"), "LCK005", 2),
        (TEXT.replace("R1.yaml", "R1\t.yaml"), "LCK005", 3),
    ],
)
def test_any_other_text_is_refused_with_its_line(text, code, number):
    with pytest.raises(DataError) as caught:
        lockfile.load(text.encode())
    (finding,) = caught.value.findings
    assert (finding.code, finding.place.line) == (code, number), finding
    assert code in CODES
    assert finding.hint


@pytest.mark.parametrize("path", ["a\nb", "a\x1bb", "", "/a", "a/../b", "a//b"])
def test_a_path_that_a_line_cannot_hold_is_not_written(path):
    for lock in (Lock((), (line(path),)), Lock((path,), ())):
        with pytest.raises(DataError, match="finding") as caught:
            lockfile.dump(lock)
        assert [f.code for f in caught.value.findings] == ["LCK005"]


@given(st.binary(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_a_lock_or_a_finding(tail):
    text = TEXT.encode() + tail
    assert told(text) or lockfile.dump(lockfile.load(text)) == text
    assert all(0 < number <= text.count(b"\n") + 1 for number in told(text))


def told(text: bytes) -> list[int]:
    try:
        lockfile.load(text)
    except DataError as error:
        return [finding.place.line for finding in error.findings]
    return []
