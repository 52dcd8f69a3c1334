"""Ways to discard or change a result by plain git. `verify --records` finds each, and says where and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .audit_world import BAD, GUIDE_FILE, Audited, measured, record

RUNS = "refs/evalrepo/runs/"


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    return measured(tmp_path_factory, tmp_path)


def better(repo: Audited, path: str) -> None:
    """The result says that everything passed."""
    file = repo.path / path
    file.write_text(file.read_text().replace("FAIL", "PASS").replace('"fail"', '"pass"'))


def test_a_repository_that_only_measured_has_no_finding(repo: Audited):
    assert repo.findings() == []
    assert repo.run("verify", "--records") == "no result was edited, removed, made up or left out\n"


def test_a_result_that_is_edited_in_a_later_commit(repo: Audited):
    bad = repo.measure(BAD)
    better(repo, bad)
    repo.git("commit", "-qam", "typo")
    assert ("RES007", bad) in repo.wrong()
    assert ("RES007", bad) in repo.wrong("--since", "start")
    said = repo.run("verify", "--records", exit=1)
    assert f"was edited by commit {repo.head()[:9]}" in said
    assert f"git restore --source={repo.head()[:9]}^ --staged --worktree -- {bad}" in said


def test_the_next_step_mends_an_edit_and_what_is_left_is_to_acknowledge_it(repo: Audited):
    bad = repo.measure(BAD)
    better(repo, bad)
    repo.git("commit", "-qam", "typo")
    repo.git("restore", f"--source={repo.head()}^", "--staged", "--worktree", "--", bad)
    repo.git("commit", "-qm", "as it was")
    (found,) = repo.findings()
    assert (found["code"], found["file"], found["commit"]) == ("RES007", bad, repo.head("HEAD^"))
    assert "it is as it was again" in found["message"]


def test_a_result_that_is_amended_in_the_commit_that_added_it(repo: Audited):
    bad = repo.measure(BAD)
    better(repo, bad)
    repo.git("commit", "-qa", "--amend", "--no-edit")
    assert ("RUN004", bad) in repo.wrong()


def test_the_next_step_mends_an_amended_result(repo: Audited):
    bad = repo.measure(BAD)
    better(repo, bad)
    repo.git("commit", "-qa", "--amend", "--no-edit")
    (found,) = [f for f in repo.findings() if f["code"] == "RUN004"]
    command = re.match(r"(git show .+ > .+), then", found["hint"])
    assert command
    repo.env["STEP"] = command[1]
    repo.git("-c", 'alias.step=!sh -c "$STEP"', "step")
    repo.git("commit", "-qa", "--amend", "--no-edit")
    assert repo.wrong() == []


def test_an_amended_result_breaks_the_chain_where_no_run_ref_is_at_hand(repo: Audited, tmp_path: Path):
    bad = repo.measure(BAD)
    file = repo.path / bad
    file.write_text(file.read_text().replace('"exit_code": 0', '"exit_code": 7'))  # what the text does not show
    repo.git("commit", "-qa", "--amend", "--no-edit")
    other = repo.clone_of(tmp_path / "other")
    assert other.wrong() == []  # the last record of a clone: nothing names it yet
    repo.measure("Always read the README before editing. Really.\n")
    other.git("pull", "-q")
    assert [code for code, _ in other.wrong()] == ["RUN003"]


def test_a_result_that_is_removed_by_a_commit(repo: Audited):
    bad = repo.measure(BAD)
    repo.git("rm", "-q", bad)
    repo.git("commit", "-qm", "tidy up")
    assert ("RES008", bad) in repo.wrong("--since", "start")


def test_a_result_that_is_moved_to_another_month(repo: Audited):
    bad = repo.measure(BAD)
    (repo.path / "AgentsReport/evaluation/2020-01").mkdir()
    repo.git("mv", bad, "AgentsReport/evaluation/2020-01/")
    repo.git("commit", "-qm", "sorted")
    assert ("RES009", bad) in repo.wrong()


def test_a_result_that_is_removed_and_added_again_with_another_number(repo: Audited):
    bad = repo.measure(BAD)
    text = (repo.path / bad).read_text()
    number = record(repo.path / bad)["sequence"]
    repo.git("rm", "-q", bad)
    repo.git("commit", "-qm", "tidy up")
    again = text.replace(f'"sequence": {number}', f'"sequence": {number + 5}').replace('"FAIL"', '"PASS"')
    repo.commit({bad: again}, "measured again")
    found = repo.wrong()
    assert {("RES008", bad), ("RUN004", bad)} <= set(found)
    assert "RUN001" in {code for code, _ in found}


def test_a_rebase_that_drops_a_result_while_the_ref_of_its_run_stays(repo: Audited):
    bad = repo.measure(BAD)
    run = record(repo.path / bad)["run"]
    repo.git("reset", "-q", "--hard", "HEAD~1")
    assert repo.wrong() == [("RUN005", RUNS + run)]
    (found,) = repo.findings()
    repo.env["STEP"] = found["hint"].split(", then")[0]
    repo.git("-c", 'alias.step=!sh -c "$STEP"', "step")
    repo.git("add", "AgentsReport")
    repo.git("commit", "-qm", "as it was measured")
    assert repo.findings() == []


def test_a_re_roll_until_it_passes_with_the_bad_run_gone_from_branch_and_refs(repo: Audited, tmp_path: Path):
    bad = repo.measure(BAD)
    run = record(repo.path / bad)["run"]
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("update-ref", "-d", RUNS + run)
    assert repo.wrong() == [("RUN001", RUNS + run)]  # by what this clone remembers, with no later record at all
    repo.run("run", exit=None)
    (after,) = set(repo.results()) - {repo.results()[0]}
    assert repo.wrong() == [("RUN001", after)]
    assert repo.clone_of(tmp_path / "other").wrong() == [("RUN001", after)]


def test_what_this_clone_remembers_brings_a_discarded_result_back(repo: Audited):
    bad = repo.measure(BAD)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("update-ref", "-d", RUNS + record_run(repo, bad))
    (found,) = repo.findings()
    assert found["hint"].startswith("git archive ")
    repo.env["STEP"] = found["hint"].split(", then")[0]
    repo.git("-c", 'alias.step=!sh -c "$STEP"', "step")
    assert repo.results()[-1] == bad


def record_run(repo: Audited, path: str) -> str:
    return re.search(r"_([0-9a-z]{8})\.md$", path)[1]  # type: ignore[index]


def test_a_result_that_was_made_by_hand_for_a_run_that_is_here(repo: Audited):
    (good,) = repo.results()
    made = good.replace("S1-typo", "S9-typo")
    repo.commit({made: (repo.path / good).read_text().replace("S1-typo", "S9-typo")}, "another one")
    assert ("RUN004", made) in repo.wrong()


def test_a_result_that_was_made_by_hand_in_this_clones_name(repo: Audited):
    (good,) = repo.results()
    run = record(repo.path / good)["run"]
    made = good.replace(run, "abcdefgh")
    text = (repo.path / good).read_text().replace(run, "abcdefgh").replace('"sequence": 1', '"sequence": 2')
    repo.commit({made: text}, "another one")
    found = repo.wrong()
    assert ("RUN006", made) in found
    assert ("RUN003", made) in found


def test_a_result_that_was_made_by_hand_in_another_name_is_at_least_said_to_have_no_transcripts(repo: Audited):
    (good,) = repo.results()
    mine = record(repo.path / good)
    made = good.replace(mine["run"], "abcdefgh")
    text = (repo.path / good).read_text().replace(mine["run"], "abcdefgh").replace(mine["clone"], "0" * 16)
    repo.commit({made: text}, "another one")
    (found,) = repo.findings()
    assert (found["code"], found["file"], found["severity"]) == ("RUN006", made, "warning")
    assert "transcripts fetch" in found["hint"]


def test_a_run_ref_that_is_deleted_in_the_clone_that_measured(repo: Audited):
    (good,) = repo.results()
    repo.git("update-ref", "-d", RUNS + record(repo.path / good)["run"])
    assert repo.wrong() == [("RUN006", good)]


def test_a_record_with_fewer_reps_than_its_runs_ref_has(repo: Audited):
    """As thorough as it gets: the file in the branch and the one in the ref leave the same rep out."""
    (good,) = repo.results()
    ref = RUNS + record(repo.path / good)["run"]
    lines = (repo.path / good).read_text().split("\n")
    cut = next(n for n, line in enumerate(lines) if line.startswith('{"rep": 3'))
    lines[cut - 1] = lines[cut - 1].rstrip(",")
    del lines[cut]
    (repo.path / good).write_text("\n".join(lines))
    repo.env["GIT_INDEX_FILE"] = str(repo.home / "index")
    repo.git("read-tree", ref)
    oid = repo.git("hash-object", "-w", good).strip()
    repo.git("update-index", "--cacheinfo", f"100644,{oid},results/{Path(good).name}")
    tree = repo.git("write-tree").strip()
    del repo.env["GIT_INDEX_FILE"]
    repo.git("update-ref", ref, repo.git("commit-tree", "-m", "as it was", tree).strip())
    repo.git("commit", "-qa", "--amend", "--no-edit")
    (found,) = [f for f in repo.findings() if f["severity"] == "error"]
    assert (found["code"], found["file"]) == ("RUN007", ref)
    assert "3-1" in found["message"]


def test_a_merge_that_leaves_out_what_the_other_side_measured(repo: Audited):
    repo.git("checkout", "-qb", "topic")
    bad = repo.measure(BAD)
    repo.git("checkout", "-q", "main")
    repo.commit({"README.md": "main\n"}, "main goes on")
    repo.git("merge", "-q", "-s", "ours", "-m", "merge topic", "topic")
    assert ("RES008", bad) in repo.wrong("--since", "main~1")
    assert "a merge that leaves out" in repo.run("verify", "--records", exit=1)


def test_a_merge_into_a_branch_that_leaves_out_what_the_base_has(repo: Audited):
    """The side that is walked has all of it as it was; only the base's parent knows what is missing."""
    repo.git("checkout", "-qb", "topic")
    repo.commit({"README.md": "topic\n"}, "topic goes on")
    repo.git("checkout", "-q", "main")
    bad = repo.measure(BAD)
    repo.git("checkout", "-q", "topic")
    repo.git("merge", "-q", "-s", "ours", "-m", "merge main", "main")
    assert ("RES008", bad) in repo.wrong("--since", "main")


def test_a_merge_that_is_resolved_to_an_edited_result(repo: Audited):
    repo.git("checkout", "-qb", "topic")
    bad = repo.measure(BAD)
    repo.git("checkout", "-q", "main")
    repo.commit({"README.md": "main\n"}, "main goes on")
    repo.git("merge", "-q", "--no-commit", "topic")
    better(repo, bad)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "merge topic")
    assert ("RES007", bad) in repo.wrong("--since", "topic")


def test_a_removal_on_a_side_branch_is_told_once_where_it_happened(repo: Audited):
    (good,) = repo.results()
    repo.git("checkout", "-qb", "topic")
    repo.git("rm", "-q", good)
    repo.git("commit", "-qm", "tidy up")
    there = repo.head()
    repo.git("checkout", "-q", "main")
    repo.commit({"README.md": "main\n"}, "main goes on")
    repo.git("merge", "-q", "--no-edit", "topic")
    found = [f for f in repo.findings() if f["code"] == "RES008"]
    assert [(f["file"], f["commit"]) for f in found] == [(good, there)]


def test_a_result_that_becomes_a_link_or_executable(repo: Audited):
    (good,) = repo.results()
    repo.git("update-index", "--chmod=+x", good)
    repo.git("commit", "-qm", "executable")
    assert "was re-moded from 100644 to 100755" in repo.findings()[0]["message"]
    (repo.path / good).unlink()
    (repo.path / good).symlink_to("/dev/null")
    repo.git("commit", "-qam", "a link")
    assert any("made a symbolic link" in f["message"] for f in repo.findings() if f["code"] == "RES007")


def test_an_octopus_merge_that_leaves_out_one_sides_results(repo: Audited):
    repo.git("checkout", "-qb", "one")
    bad = repo.measure(BAD)
    repo.git("checkout", "-q", "-b", "two", "main")
    repo.commit({"two.md": "two\n"}, "two")
    repo.git("checkout", "-q", "main")
    tree = repo.git("rev-parse", "two^{tree}").strip()
    octopus = repo.git("commit-tree", "-p", "main", "-p", "one", "-p", "two", "-m", "octopus", tree).strip()
    repo.git("reset", "-q", "--hard", octopus)
    assert ("RES008", bad) in repo.wrong("--since", "start")


def test_a_range_that_is_hidden_by_a_replace_ref_or_a_commit_message_is_read_as_it_is(repo: Audited):
    bad = repo.measure(BAD)
    repo.git("rm", "-q", bad)
    repo.git("commit", "-qm", f"(from {'0' * 40}) :100644 tidy up")
    repo.git("replace", "HEAD", "HEAD~1")
    assert ("RES008", bad) in repo.wrong("--since", "start")


def test_what_is_acknowledged_is_shown_and_silent(repo: Audited):
    bad = repo.measure(BAD)
    repo.git("rm", "-q", bad)
    repo.git("commit", "-qm", "a key of a customer stood in it")
    at = repo.head()
    event = (
        'event: acknowledge\nat: "2026-11-29T12:00:00Z"\nby: "Test Person <person@example.org>"\n'
        f'why: "a key of a customer stood in it"\ncommits: ["{at[:12]}"]\npaths: ["{bad}"]\n'
    )
    place = "evalrepo.ledger/01M8MRJK25PKC92YJG085MT7XC.yaml"
    repo.commit({place: event}, "acknowledged")
    said = [(f["code"], f["acknowledged"]) for f in repo.findings()]
    assert ("RES008", place) in said
    assert repo.wrong() == []
    assert "1 finding acknowledged" in repo.run("verify", "--records")


def test_an_acknowledgement_of_another_commit_silences_nothing(repo: Audited):
    bad = repo.measure(BAD)
    repo.git("rm", "-q", bad)
    repo.git("commit", "-qm", "tidy up")
    event = (
        'event: acknowledge\nat: "2026-11-29T12:00:00Z"\nby: "Test Person <person@example.org>"\n'
        f'why: "the guide was only a draft"\ncommits: ["{repo.head("HEAD~1")}"]\npaths: ["{bad}"]\n'
    )
    repo.commit({"evalrepo.ledger/01M8MRJK25PKC92YJG085MT7XC.yaml": event}, "acknowledged")
    assert ("RES008", bad) in repo.wrong()


def test_a_subject_file_may_change_as_it_likes(repo: Audited):
    repo.commit({GUIDE_FILE: BAD}, "another wording")
    repo.git("rm", "-q", GUIDE_FILE)
    repo.git("commit", "-qm", "gone")
    assert repo.findings() == []
