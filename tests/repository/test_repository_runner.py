from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from evalrepo.errors import GitError
from evalrepo.repository import contents as many
from evalrepo.repository import runner
from evalrepo.repository.runner import Git, scrubbed


def test_every_git_variable_is_scrubbed_but_where_the_configuration_is():
    env = scrubbed(
        {
            "PATH": "/bin",
            "GIT_DIR": "x",
            "GIT_INDEX_FILE": "x",
            "GIT_TRACE": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_PARAMETERS": "x",
            "GIT_EXTERNAL_DIFF": "x",
            "GIT_SSH_COMMAND": "x",
            "GIT_CONFIG_GLOBAL": "g",
            "LANGUAGE": "de",
        }
    )
    assert env == {"PATH": "/bin", "GIT_CONFIG_GLOBAL": "g", **runner.FIXED}


def test_a_hook_keeps_what_git_gave_it():
    env = scrubbed({"GIT_INDEX_FILE": "i", "GIT_DIR": "d", "GIT_TRACE": "1", "GIT_EXEC_PATH": "e"}, hook=True)
    assert {k: v for k, v in env.items() if k not in runner.FIXED} == {"GIT_INDEX_FILE": "i", "GIT_DIR": "d"}


def test_an_error_is_said_in_gits_words(lab):
    with pytest.raises(GitError, match=r"^git cat-file: .*bad file") as caught:
        Git(lab.top, lab.env)("cat-file", "blob", "0" * 40)
    assert "\n" not in str(caught.value)


def test_control_characters_of_an_error_are_shown_not_sent():
    error = runner.failure(("add",), 128, b"fatal: no \x1b[31mx\n")
    assert str(error) == "git add: no \\x1b[31mx"


def test_a_machine_without_git_is_told_so(lab):
    with pytest.raises(GitError, match="git is not installed"):
        Git(lab.top, {**lab.env, "PATH": "/nonexistent"})("version")


def test_a_directory_that_is_gone_is_an_error(lab):
    with pytest.raises(GitError, match="could not be started"):
        Git(lab.top / "gone", lab.env)("version")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_program_can_be_given_is_an_error(lab, name):
    with pytest.raises(GitError, match="cannot be asked that"):
        Git(lab.top, lab.env)("rev-parse", name)


def test_blobs_come_in_the_order_given_with_repetitions_and_in_chunks(lab, monkeypatch):
    monkeypatch.setattr(many, "_FIRST_CHUNK", 2)
    monkeypatch.setattr(many, "_CHUNK_BYTES", 1)
    git = Git(lab.top, lab.env)
    contents = [b"", b"\n", b"x blob 3\nabc", b"\0\xff" * 1000, *(str(n).encode() for n in range(40))]
    oids = [git("hash-object", "-w", "--stdin", stdin=data).decode().strip() for data in contents]
    order = [*oids, oids[0], oids[3]]
    assert list(git.blobs(order)) == list(zip(order, [*contents, contents[0], contents[3]], strict=True))
    assert list(git.blobs([])) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc")
def test_blobs_that_nobody_asks_for_any_more_leave_no_git_and_no_file_behind(lab, monkeypatch):
    monkeypatch.setattr(many, "_FIRST_CHUNK", 1)
    git = Git(lab.top, lab.env)
    oids = [git("hash-object", "-w", "--stdin", stdin=data).decode().strip() for data in (b"a", b"b", b"c", b"d")]
    before = set(os.listdir("/proc/self/fd"))
    found = git.blobs(oids)
    assert next(found) == (oids[0], b"a")
    assert len(os.listdir("/proc/self/fd")) > len(before)
    found.close()
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_blob_that_is_missing_broken_or_no_blob_is_an_error(lab):
    commit = lab.commit({"a": "1"})
    git = Git(lab.top, lab.env)
    with pytest.raises(GitError, match="missing or broken"):
        list(git.blobs(["1" * 40]))
    with pytest.raises(GitError, match="is a commit, not a file"):
        list(git.blobs([commit]))
    blob = lab.git("rev-parse", "HEAD:a")
    broken = lab.top / ".git/objects" / blob[:2] / blob[2:]
    broken.chmod(stat.S_IRUSR | stat.S_IWUSR)
    broken.write_bytes(b"")
    with pytest.raises(GitError, match=blob):
        list(git.blobs([blob]))


def test_sizes_are_of_the_content_and_none_where_nothing_is(lab):
    lab.commit({"a": "12345"})
    blob = lab.git("rev-parse", "HEAD:a")
    assert Git(lab.top, lab.env).sizes([blob, "1" * 40]) == {blob: 5, "1" * 40: None}


def test_no_transport_is_ever_used(lab, make_lab):
    other = make_lab("other")
    other.commit({"a": "1"})
    with pytest.raises(GitError, match=r"transport 'file' not allowed"):
        Git(lab.top, lab.env)("fetch", str(other.top))
