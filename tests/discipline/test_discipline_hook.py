"""What the hook refuses, in real commits."""

from __future__ import annotations

import json

import pytest
from frozen_repo import FILES, OTHER, R1, SCENARIO, Repo, new


def edit(repo: Repo) -> None:
    repo.write({R1: OTHER})


def edit_the_fixture(repo: Repo) -> None:
    repo.write({"fixtures/box/README.md": "other\n"})


def delete(repo: Repo) -> None:
    (repo.root / R1).unlink()


def make_executable(repo: Repo) -> None:
    (repo.root / R1).chmod(0o755)


def symlink(repo: Repo) -> None:
    (repo.root / R1).unlink()
    (repo.root / R1).symlink_to("R2.yaml")


def edit_the_lock(repo: Repo) -> None:
    lock = repo.root / "evalrepo.lock"
    lock.write_text("".join(line for line in lock.read_text().splitlines(True) if R1 not in line))


def remove_the_lock(repo: Repo) -> None:
    (repo.root / "evalrepo.lock").unlink()


def remove_the_config(repo: Repo) -> None:
    (repo.root / "evalrepo.yaml").unlink()


def remove_an_event(repo: Repo) -> None:
    next((repo.root / "evalrepo.ledger").iterdir()).unlink()


def edit_an_event(repo: Repo) -> None:
    event = next((repo.root / "evalrepo.ledger").iterdir())
    event.write_text(event.read_text().replace("why: frozen", "why: nothing"))


TRACKED = {
    edit: ("FRZ001", R1),
    edit_the_fixture: ("FRZ001", "fixtures/box/README.md"),
    delete: ("FRZ003", R1),
    make_executable: ("FRZ005", R1),
    symlink: ("FRZ006", R1),
    edit_the_lock: ("FRZ009", "evalrepo.lock"),
    remove_the_lock: ("FRZ007", "evalrepo.lock"),
    remove_the_config: ("FRZ008", "evalrepo.yaml"),
    remove_an_event: ("FRZ010", "evalrepo.ledger"),
    edit_an_event: ("FRZ010", "evalrepo.ledger"),
}


def found(repo: Repo, *args: str) -> list[tuple[str, str]]:
    code, said = repo.run("verify", *(args or ("--staged",)), "--format", "json")
    data = json.loads(said)
    assert code == (0 if data["intact"] else 1)
    return [(f["code"], f["file"]) for f in data["findings"]]


@pytest.mark.parametrize("change", TRACKED, ids=lambda c: c.__name__)
def test_a_change_of_what_is_frozen_is_refused_in_every_kind_of_commit(change, repo: Repo):
    repo.hook()
    before = repo.commits()
    change(repo)
    assert repo.code("commit", "-q", "-a", "-m", "all") == 1
    changed = repo.git("ls-files", "-m", "-d").split()
    assert repo.code("commit", "-q", "-m", "paths", *dict.fromkeys(changed)) == 1
    repo.write({"docs/page.md": "harmless\n"})
    repo.git("add", "-A")
    repo.write({"docs/page.md": "later\n"})
    assert repo.code("commit", "-q", "-m", "staged, with more on disk") == 1
    code, file = TRACKED[change]
    assert any(c == code and f.startswith(file) for c, f in found(repo)), found(repo)
    assert repo.commits() == before


def test_a_file_that_is_added_below_a_frozen_root_is_refused(repo: Repo):
    repo.hook()
    repo.write({"scenarios-reserve/R3.yaml": OTHER})
    repo.git("add", "-A")
    assert repo.code("commit", "-q", "-m", "x") == 1
    assert found(repo) == [("FRZ002", "scenarios-reserve/R3.yaml")]


def test_a_rename_is_told_as_one(repo: Repo):
    repo.hook()
    repo.git("mv", R1, "scenarios-reserve/R9.yaml")
    assert repo.code("commit", "-q", "-m", "x") == 1
    code, said = repo.run("verify", "--staged")
    assert code == 1
    assert f"{R1}: FRZ004" in said
    assert "scenarios-reserve/R9.yaml" in said


def test_the_lock_and_the_frozen_file_changed_together_are_refused(repo: Repo):
    repo.hook()
    edit(repo)
    repo.git("add", "-A")
    lock = repo.root / "evalrepo.lock"
    old, new = repo.git("rev-parse", f"HEAD:{R1}").strip(), repo.git("rev-parse", f":{R1}").strip()
    lock.write_text(lock.read_text().replace(old, new))
    repo.git("add", "-A")
    assert repo.code("commit", "-q", "-m", "x") == 1
    assert found(repo) == [("FRZ009", "evalrepo.lock")]


@pytest.mark.parametrize("gone", ["evalrepo.lock", "evalrepo.yaml"])
def test_lock_or_config_removed_with_a_frozen_file_are_both_told(gone: str, repo: Repo):
    edit(repo)
    (repo.root / gone).unlink()
    repo.git("add", "-A")
    codes = {code for code, _ in found(repo)}
    assert codes == {"FRZ001", "FRZ007" if gone == "evalrepo.lock" else "FRZ008"}


def test_what_is_staged_counts_and_not_what_lies_on_disk(repo: Repo):
    repo.hook()
    edit(repo)
    repo.git("add", R1)
    repo.write({R1: SCENARIO.format(title="one")})
    assert repo.code("commit", "-q", "-m", "the index is what is committed") == 1
    repo.git("reset", "-q", "--", R1)
    edit(repo)
    repo.write({"docs/page.md": "harmless\n"})
    repo.git("add", "docs/page.md")
    assert repo.code("commit", "-q", "-m", "the edit is only on disk") == 0


def test_a_partial_commit_of_another_path_passes_while_a_frozen_edit_is_staged(repo: Repo):
    repo.hook()
    edit(repo)
    repo.git("add", R1)
    repo.write({"docs/page.md": "harmless\n"})
    assert repo.code("commit", "-q", "-m", "x", "docs/page.md") == 0
    assert repo.code("commit", "-q", "-m", "x") == 1


def test_harmless_commits_pass_in_a_linked_worktree_and_frozen_edits_do_not(repo: Repo):
    repo.hook()
    repo.git("worktree", "add", "-q", "../linked", "-b", "side")
    linked = Repo(repo.root.parent / "linked", repo.environ)
    linked.write({"docs/page.md": "harmless\n"})
    assert linked.code("commit", "-q", "-a", "-m", "x") == 0
    edit(linked)
    assert linked.code("commit", "-q", "-a", "-m", "x") == 1
    assert linked.code("commit", "-q", "-m", "x", R1) == 1


def test_a_commit_from_a_sub_directory_is_checked_from_the_top(repo: Repo):
    repo.hook()
    edit(repo)
    inside = Repo(repo.root / "docs", repo.environ)
    assert inside.code("commit", "-q", "-a", "-m", "x") == 1


def test_autocrlf_raises_no_false_alarm(empty: Repo):
    empty.git("config", "core.autocrlf", "true")
    files = {
        "evalrepo.yaml": "version: 1\r\nsubjects:\r\n  style: {paths: [STYLE.md]}\r\n",
        "STYLE.md": "be brief\r\n",
        R1: SCENARIO.format(title="one").replace("\n", "\r\n"),
        "fixtures/box/README.md": "box\r\n",
        "docs/page.md": "page\n",
    }
    empty.commit(files)
    empty.freeze()
    empty.hook()
    for path in (R1, "evalrepo.lock"):
        (empty.root / path).unlink()
    empty.git("checkout", "--", R1, "evalrepo.lock")
    assert b"\r\n" in (empty.root / R1).read_bytes()
    empty.write({"docs/page.md": "harmless\r\n"})
    assert empty.code("commit", "-q", "-a", "-m", "x") == 0
    assert found(empty) == []
    empty.write({R1: OTHER.replace("\n", "\r\n")})
    assert empty.code("commit", "-q", "-a", "-m", "x") == 1


def test_an_intent_to_add_below_a_frozen_root_is_not_part_of_a_commit(repo: Repo):
    repo.write({"scenarios-reserve/R3.yaml": OTHER})
    repo.git("add", "-N", "scenarios-reserve/R3.yaml")
    assert found(repo) == []


def test_a_sha256_repository_is_checked_alike(tmp_path, environ):
    repo = new(tmp_path / "repo", environ, "--object-format=sha256")
    repo.commit(FILES)
    repo.freeze()
    assert repo.run("verify", "--staged") == (0, "")
    edit(repo)
    repo.git("add", "-A")
    assert found(repo) == [("FRZ001", R1)]
