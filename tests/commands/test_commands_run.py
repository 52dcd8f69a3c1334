"""`evalrepo run`, as a person uses it."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import threading
import time

from tests.commands.conftest import GUIDE, SCENARIO, WORLD  # noqa: F401

WORSE = "Never look, just edit.\n"


def test_a_run_measures_and_commits_and_leaves_nothing_behind(repo):
    said = repo.run("run", "--reps", "3")
    assert "3/3" in said
    assert repo.git("status", "--porcelain") == ""
    assert [r[2:] for r in repo.reps()] == [(1, 1, "PASS"), (2, 1, "PASS"), (3, 1, "PASS")]
    assert "Evalrepo-Run:" in repo.git("log", "-1", "--format=%B")


def test_the_same_run_again_does_nothing_and_says_so(repo):
    repo.run("run")
    head = repo.git("rev-parse", "HEAD")
    assert "nothing to do" in repo.run("run")
    assert repo.git("rev-parse", "HEAD") == head


def test_more_reps_run_exactly_what_is_missing(repo):
    repo.run("run", "--reps", "3")
    repo.run("run", "--reps", "5")
    assert [len(r["reps"]) for r in sorted(repo.records(), key=lambda r: r["sequence"])] == [3, 2]


def test_fresh_reps_are_run_and_never_counted(repo):
    repo.run("run")
    said = repo.run("run", "--fresh", "2")
    assert "2/2" in said
    assert "nothing to do" in repo.run("run")


def test_since_passes_over_result_commits_and_selects_what_changed_with_its_reason(repo):
    repo.run("run")
    repo.commit({"subjects/style/GUIDE.md": WORSE})
    said = repo.run("run", "--since", "HEAD~1", "--dry-run")
    assert "subject style changed" in said
    repo.run("run", "--since", "HEAD~1", exit=1)
    assert "subject style changed" in repo.run("run", "--since", "HEAD~1", "--dry-run")


def test_since_selects_nothing_when_only_prose_changed(repo):
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("A typo is mended", "A small typo is mended")})
    assert "no scenario is touched" in repo.run("run", "--since", "HEAD~1")


def test_since_fails_loudly_in_a_shallow_clone(repo, tmp_path):
    repo.commit({"subjects/style/GUIDE.md": WORSE})
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repo.path}", str(clone)], check=True)
    repo.path = clone
    assert "fetch-depth: 0" in repo.run("run", "--since", "HEAD~1", exit=2)


def test_a_change_of_the_work_tree_is_measured_and_belongs_to_the_commit_that_holds_it_later(repo):
    repo.run("run")
    repo.write({"subjects/style/GUIDE.md": WORSE})
    repo.run("run", exit=1)
    assert repo.git("status", "--porcelain") == " M subjects/style/GUIDE.md\n"
    repo.git("commit", "-qam", "worse")
    assert "nothing to do" in repo.run("run", exit=1)


def test_staged_modified_and_untracked_work_is_as_it_was(repo):
    repo.write({"staged.txt": "s", "untracked.txt": "u", "fixtures/app/README.md": "hello\nmore\n"})
    repo.git("add", "staged.txt")
    before = repo.git("status", "--porcelain"), repo.git("diff"), repo.git("diff", "--cached")
    repo.run("run")
    assert (repo.git("status", "--porcelain"), repo.git("diff"), repo.git("diff", "--cached")) == before


def test_work_is_as_it_was_while_another_process_commits(repo):
    repo.write({"staged.txt": "s", "untracked.txt": "u", "fixtures/app/README.md": "hello\nmore\n"})
    repo.git("add", "staged.txt")
    over = threading.Event()
    commits = []

    def committer() -> None:
        while not over.is_set():
            repo.write({"busy.txt": str(len(commits))})
            repo.git("add", "busy.txt", check=False)
            repo.git("commit", "-q", "-m", "busy", "--", "busy.txt", check=False)
            commits.append(1)
            time.sleep(0.01)

    thread = threading.Thread(target=committer)
    thread.start()
    try:
        repo.run("run", "--reps", "8")
    finally:
        over.set()
        thread.join()
    assert repo.git("status", "--porcelain", "--", "staged.txt", "untracked.txt", "fixtures") == (
        " M fixtures/app/README.md\nA  staged.txt\n?? untracked.txt\n"
    )
    assert len(repo.reps()) == 8
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD", "AgentsReport").count(".md") == 1


def test_two_runs_of_one_repository_land_both_and_measure_no_cell_twice(repo):
    repo.commit({"scenarios/S2-typo.yaml": SCENARIO})
    one, two = repo.start("run", "S1", "--reps", "6"), repo.start("run", "S2", "--reps", "6")
    three = repo.start("run", "S1", "--reps", "6")
    said = [p.communicate(timeout=120) for p in (one, two, three)]
    assert [p.returncode for p in (one, two, three)] == [0, 0, 0], said
    assert sorted((r[1], r[2]) for r in repo.reps()) == [(s, n) for s in ("S1-typo", "S2-typo") for n in range(1, 7)]
    assert repo.git("status", "--porcelain") == ""


def finished(repo) -> int:
    """Reps whose end is in a journal."""
    return sum(p.read_text().count('"line":"end"') for p in (repo.path / ".git/evalrepo").rglob("*.jsonl"))


def until(met, within_s: float = 60) -> None:
    end = time.monotonic() + within_s
    while not met():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ctrl_c_ends_within_two_seconds_and_loses_no_finished_rep(repo):
    slow = SCENARIO.replace('say: "Done', 'sleep: 0.4\n      - say: "Done')
    repo.commit({"scenarios/S1-typo.yaml": slow})
    process = repo.start("run", "--reps", "30", "--jobs", "2")
    until(lambda: finished(repo) >= 2)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - began < 2.5
    assert process.returncode == 130, out + err
    verdicts = [r[4] for r in repo.reps()]
    assert verdicts.count("PASS") >= 2
    kept = re.search(r"(\d+) reps are kept", err)
    assert kept is not None
    assert int(kept[1]) == len(verdicts)
    repo.run("run", "--reps", "30", "--jobs", "2")
    assert [r[4] for r in repo.reps()].count("PASS") == 30


def test_no_commit_writes_only_the_runs_ref(repo):
    head = repo.git("rev-parse", "HEAD")
    repo.run("run", "--no-commit")
    assert repo.git("rev-parse", "HEAD") == head
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("for-each-ref", "refs/evalrepo/runs").count("\n") == 1
    assert "nothing to do" in repo.run("run")


def test_without_an_identity_results_are_committed_by_evalrepo(repo):
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    repo.run("run")
    assert repo.git("log", "-1", "--format=%an <%ae>") == "evalrepo <evalrepo@localhost>\n"


def test_the_transcript_of_a_rep_can_be_read_from_the_runs_ref(repo):
    repo.run("run", "--reps", "1")
    record = repo.records()[0]
    path = record["reps"][0]["transcript"]["path"]
    text = repo.git("show", f"refs/evalrepo/runs/{record['run']}:{path}")
    assert "Fix the typo in README.md" in text


def test_the_values_of_passed_variables_are_redacted_before_they_are_stored(repo):
    secret = "correct-horse-battery"
    repo.env["TOKEN_FOR_TEST"] = secret
    config = WORLD["evalrepo.yaml"].replace("{tiers: {default", "{env: [TOKEN_FOR_TEST], tiers: {default")
    leaky = SCENARIO.replace('say: "Done', 'run: echo $TOKEN_FOR_TEST\n      - say: "Done')
    repo.commit({"evalrepo.yaml": config, "scenarios/S1-typo.yaml": leaky})
    repo.run("run", "--reps", "1")
    repo.git("gc", "-q")
    everything = repo.git("cat-file", "--batch-all-objects", "--batch")
    assert "[REDACTED:" in everything
    assert secret not in everything
    assert repo.records()[0]["reps"][0]["transcript"]["redactions"] >= 1


def test_wrong_input_is_refused_with_a_next_step(repo):
    for args, words in (
        (["run", "S9"], "evalrepo list scenarios"),
        (["run", "--suite", "x"], "release"),
        (["run", "--agent", "x"], "scripted"),
        (["run", "--tier", "x"], "scripts of S1-typo: follows"),
        (["run", "--since", "nowhere"], "nowhere"),
        (["run", "--reps", "1", "--fresh", "1"], "--fresh"),
        (["run", "S1", "--suite", "release"], "--suite"),
    ):
        said = repo.run(*args, exit=2)
        assert words in said, (args, said)


def test_a_repository_without_a_commit_is_told_to_make_one(empty):
    empty.write(WORLD)
    assert "no commit yet" in empty.run("run", exit=2)


def test_a_merge_in_progress_stops_a_run_before_its_first_rep(repo):
    repo.git("checkout", "-qb", "other")
    repo.commit({"subjects/style/GUIDE.md": "a\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"subjects/style/GUIDE.md": "b\n"})
    repo.git("merge", "other", check=False)
    assert "merge" in repo.run("run", exit=2)


def test_json_says_what_the_text_says(repo):
    said = repo.json("run")
    assert said["cells"][0] | {} == {**said["cells"][0], "passes": 3, "valid": 3, "state": "ok"}
    assert said["exit"] == 0
    plan = repo.json("run", "--dry-run")
    assert plan["to_run"] == 0


def test_as_an_ordinary_user_and_without_bubblewrap_it_works_and_says_so(repo, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "sh", "env"):
        (tools / name).symlink_to(shutil.which(name) or "/absent")
    repo.env["PATH"] = str(tools)
    said = repo.run("run")
    assert "isolation: none" in said
    assert {r["isolation"] for r in repo.records()} == {"none"}


def test_a_gap_in_a_clones_records_and_a_record_that_was_changed_are_findings(repo):
    for reps in ("1", "2", "3"):
        repo.run("run", "--reps", reps)
    assert "RUN00" not in repo.run("lint")
    first, second, third = sorted(
        (repo.path / "AgentsReport").rglob("*.md"), key=lambda p: int(re.search(r'"sequence": (\d+)', p.read_text())[1])
    )
    del third
    kept = [
        line.split()[1] for line in repo.git("for-each-ref", "refs/evalrepo/runs", "--format=x %(refname)").splitlines()
    ]
    for ref in kept:
        repo.git("update-ref", "-d", ref)
    text = second.read_text()
    second.unlink()
    repo.git("rm", "-q", "--cached", str(second))
    repo.git("commit", "-qm", "a result goes")
    assert "RUN001" in repo.run("lint")
    second.write_text(text)
    first.write_text(first.read_text().replace("3/3", "0/3").replace("1 of 1", "0 of 1"))
    assert "RUN003" in repo.run("lint", exit=1)
