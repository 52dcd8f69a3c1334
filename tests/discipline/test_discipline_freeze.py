"""freeze, thaw, verify as a person uses them."""

from __future__ import annotations

import json
import shutil

import pytest
from frozen_repo import FILES, OTHER, R1, SCENARIO, Repo, new


def found(repo: Repo, *args: str) -> list[tuple[str, str]]:
    _, said = repo.run("verify", *args, "--format", "json")
    return [(f["code"], f["file"]) for f in json.loads(said)["findings"]]


def test_the_closure_of_the_reserve_is_frozen(empty: Repo):
    reserve = SCENARIO.format(title="one") + (
        "checks:\n"
        "  - {id: a, axis: A, command: {run: sh c.sh, files: {c.sh: scenarios/files/R1/c.sh}}}\n"
        "  - {id: b, axis: A, not: {python: {call: 'checks/b.py:f'}}}\n"
        "  - {id: c, axis: A, judge: {rubric: tone, question: kind}}\n"
    )
    files = {
        "evalrepo.yaml": "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\nfrozen: {also: [docs/**, '*.txt']}\n",
        "scenarios-reserve/R1.yaml": reserve,
        "scenarios/files/R1/c.sh": "true\n",
        "checks/b.py": "x = 1\n",
        "checks/other.py": "x = 1\n",
        "rubrics/tone.md": "---\ntitle: t\nquestions: {kind: {ask: kind?}}\n---\n",
        "fixtures/box/a": "a\n",
        "docs/page.md": "page\n",
        "note.txt": "n\n",
        "STYLE.md": "s\n",
    }
    empty.commit(files)
    empty.freeze()
    lock = (empty.root / "evalrepo.lock").read_text().splitlines()
    roots = [line.removeprefix("root ") for line in lock if line.startswith("root ")]
    assert roots == sorted(
        [
            "checks/b.py",
            "docs",
            "fixtures/box",
            "note.txt",
            "rubrics/tone.md",
            "scenarios-reserve",
            "scenarios/files/R1/c.sh",
        ]
    )
    frozen = [line.split(" ", 3)[3] for line in lock if not line.startswith(("root ", "evalrepo-lock"))]
    assert frozen == sorted(set(files) - {"evalrepo.yaml", "checks/other.py", "STYLE.md"})


def test_freeze_stages_its_two_files_and_leaves_everything_else_as_it_was(empty: Repo):
    empty.commit(FILES)
    empty.write({"docs/page.md": "staged\n", "STYLE.md": "modified\n", "new.txt": "untracked\n"})
    empty.git("add", "docs/page.md")
    before = empty.git("status", "--porcelain")
    code, said = empty.run("freeze")
    assert code == 0, said
    after = empty.git("status", "--porcelain").splitlines()
    ours = [line for line in after if "evalrepo." in line]
    assert "\n".join(line for line in after if line not in ours) + "\n" == before
    assert [line[:2] for line in ours] == ["A ", "A "]
    assert empty.run("freeze")[1].startswith("nothing to freeze")


def test_freeze_wants_what_is_frozen_to_be_staged(empty: Repo):
    empty.commit(FILES)
    empty.write({R1: OTHER})
    code, said = empty.run("freeze")
    assert code == 2
    assert f"git add {R1}" in said
    empty.git("add", "-A")
    empty.write({"fixtures/box/untracked.txt": "x"})
    code, said = empty.run("freeze")
    assert code == 2
    assert "fixtures/box/untracked.txt" in said


@pytest.mark.parametrize("command", [["freeze"], ["thaw", R1, "--why", "a wrong word"]])
def test_freeze_and_thaw_want_a_person(command: list[str], repo: Repo):
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    code, said = repo.run(*command)
    assert code == 2
    assert "git config user.name" in said
    assert repo.git("status", "--porcelain") == ""


def test_a_frozen_file_is_changed_by_thaw_edit_freeze_in_three_commits_or_in_one(repo: Repo):
    for commit in (True, False):
        assert repo.run("thaw", R1, "--why", "a typing error")[0] == 0
        assert found(repo) == [("FRZ013", R1)]
        assert repo.run("verify", "--staged")[0] == 0
        if commit:
            repo.git("commit", "-q", "-m", "thaw")
        repo.write({R1: SCENARIO.format(title=f"third {commit}")})
        repo.git("add", "-A")
        assert repo.run("verify", "--staged")[0] == 0
        assert repo.run("freeze")[0] == 0
        assert found(repo, "--staged") == []
        repo.git("commit", "-q", "-m", "freeze")
        assert found(repo, "--rev", "HEAD", "--deep") == []
    events = sorted((repo.root / "evalrepo.ledger").iterdir())
    kinds = [e.read_text().splitlines()[0] for e in events]
    assert kinds == ["event: freeze", *["event: thaw", "event: freeze"] * 2]


def test_freeze_does_not_accept_an_edit_that_was_not_thawed(repo: Repo):
    repo.write({R1: OTHER})
    repo.git("add", "-A")
    code, said = repo.run("freeze")
    assert code == 2
    assert f"{R1}: FRZ001" in said
    assert "evalrepo thaw" in said
    assert repo.git("diff", "--cached", "--name-only").split() == [R1]


def test_a_new_reserve_file_is_frozen_without_a_thaw(repo: Repo):
    repo.write({"scenarios-reserve/R3.yaml": OTHER})
    repo.git("add", "-A")
    assert found(repo) == [("FRZ002", "scenarios-reserve/R3.yaml")]
    assert repo.run("freeze")[0] == 0
    assert found(repo) == []


def test_a_thawed_fixture_that_nothing_names_any_more_is_given_up_by_the_next_freeze(repo: Repo):
    repo.run("thaw", "fixtures/box", "scenarios-reserve", "--why", "another fixture")
    repo.git("commit", "-q", "-m", "thaw")
    repo.write({n: SCENARIO.format(title="t").replace("fixture: box\n", "") for n in (R1, "scenarios-reserve/R2.yaml")})
    repo.git("add", "-A")
    assert repo.run("freeze")[0] == 0
    assert found(repo, "--staged") == []
    repo.git("commit", "-q", "-m", "freeze")
    assert "fixtures/box" not in (repo.root / "evalrepo.lock").read_text()
    assert found(repo, "--rev", "HEAD") == []
    repo.write({"fixtures/box/README.md": "free\n"})
    repo.git("add", "-A")
    assert found(repo, "--staged") == []


def test_single_paths_are_frozen_and_stay_so_when_the_whole_is_frozen(repo: Repo):
    assert repo.run("freeze", "docs/page.md", "--why", "a pinned page")[0] == 0
    assert repo.run("freeze")[0] == 0
    repo.git("commit", "-q", "-m", "freeze")
    repo.write({"docs/page.md": "edited\n"})
    repo.git("add", "-A")
    assert found(repo, "--staged") == [("FRZ001", "docs/page.md")]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["thaw", "docs/page.md", "--why", "a wrong word"], "docs/page.md is not frozen"),
        (["thaw", R1, "--why", " "], "needs a reason that says something: it is empty"),
        (["thaw", "../x", "--why", "a wrong word"], "inside the repository"),
        (["freeze", "nowhere.txt"], "there is no nowhere.txt"),
        (["verify", "--staged", "--rev", "HEAD"], "two different things"),
        (["verify", "--rev", "nowhere"], "nowhere"),
    ],
)
def test_questions_that_do_not_fit_are_answered_with_a_sentence(args: list[str], said: str, repo: Repo):
    code, text = repo.run(*args)
    assert code == 2
    assert said in text
    assert "hint: " in text


def test_gitlinks_pointers_and_line_breaks_are_refused(empty: Repo):
    empty.commit(FILES)
    inner = new(empty.root / "fixtures/box/inner", empty.environ)
    inner.commit({"a": "a"})
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1\n"
    for path, content in (("fixtures/box/inner", None), ("fixtures/box/big", pointer), ("fixtures/box/a\nb", "x")):
        if content is not None:
            empty.write({path: content})
        empty.git("add", path)
        code, said = empty.run("freeze")
        assert code == 2
        assert "FRZ016" in said
        empty.git("rm", "-q", "-f", "--cached", path)
        if content is not None:
            (empty.root / path).unlink()
        else:
            shutil.rmtree(empty.root / path)


def test_a_merge_that_loses_an_event_is_found_and_one_that_joins_two_freezes_is_not(repo: Repo):
    repo.git("checkout", "-q", "-b", "side")
    repo.commit({"scenarios-reserve/R3.yaml": OTHER})
    repo.run("freeze")
    repo.git("commit", "-q", "-m", "side")
    repo.git("checkout", "-q", "main")
    repo.commit({"docs/page.md": "main\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "joined", "side")
    assert found(repo, "--rev", "HEAD") == []
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("merge", "-q", "-s", "ours", "-m", "lost", "side")
    codes = {code for code, _ in found(repo, "--rev", "HEAD")}
    assert {"FRZ010"} <= codes


def test_a_tampered_commit_is_found_by_rev_although_its_hook_was_skipped(repo: Repo):
    repo.commit({R1: OTHER})
    assert found(repo, "--rev", "HEAD") == [("FRZ001", R1)]
    assert found(repo, "--rev", "HEAD~1") == []


def test_a_forged_sum_is_found_by_deep_only(repo: Repo):
    lock = repo.root / "evalrepo.lock"
    text = lock.read_text()
    total = next(line.split()[2] for line in text.splitlines() if line.endswith(R1))
    lock.write_text(text.replace(total, "0" * 64))
    repo.git("add", "-A")
    assert found(repo, "--staged") == [("FRZ009", "evalrepo.lock")]
    assert ("FRZ012", R1) in found(repo, "--staged", "--deep")


def test_a_lock_that_cannot_be_read_is_a_finding_with_its_line(repo: Repo):
    lock = repo.root / "evalrepo.lock"
    lock.write_text(lock.read_text() + "garbage\n")
    repo.git("add", "-A")
    code, said = repo.run("verify", "--staged")
    assert code == 1
    assert "evalrepo.lock:" in said
    assert "LCK003" in said


def test_the_past_of_a_shallow_clone_cannot_be_answered(repo: Repo, tmp_path):
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow", repo.environ)
    code, said = shallow.run("verify", "--rev", "HEAD")
    assert code == 2
    assert "fetch-depth: 0" in said


def test_events_follow_each_other_by_name_although_the_clock_goes_back(repo: Repo):
    old = next((repo.root / "evalrepo.ledger").iterdir())
    future = old.with_name("7" + old.name[1:])
    old.rename(future)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--no-verify", "-m", "a clock that went ahead")
    assert repo.run("thaw", R1, "--why", "a wrong word")[0] == 0
    names = sorted(path.name for path in (repo.root / "evalrepo.ledger").iterdir())
    assert names[0] == future.name
    assert "event: thaw" in (repo.root / "evalrepo.ledger" / names[1]).read_text()
    assert found(repo, "--staged") == [("FRZ013", R1)]


def test_an_event_at_the_end_of_time_is_told(repo: Repo):
    repo.commit({"evalrepo.ledger/7ZZZZZZZZZ0000000000000000.yaml": "event: tune\n"})
    code, said = repo.run("thaw", R1, "--why", "a wrong word")
    assert code == 2
    assert "evalrepo.ledger/7ZZZZZZZZZ0000000000000000.yaml: LED101" in said
