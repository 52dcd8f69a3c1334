"""`show --explain`: one rep, check by check, with what each rests on; what is sealed, pruned, by hand or not there."""

from __future__ import annotations

import json

import pytest

from tests.commands.conftest import CONFIG, SCENARIO, Repo
from tests.commands.test_commands_judge import JUDGE, RUBRIC, made, only
from tests.commands.test_commands_look import HELD, WHY, freeze
from tests.commands.test_commands_score import SCORED, typed

BLIND = SCENARIO.replace(
    'Status: COMPLETE"\n',
    'Status: COMPLETE"\n'
    "  - {name: hostile, script: [{edit: {path: README.md, old: hello, new: hallo}},"
    ' {say: "a\\e]0;pwned\\a\\u202e \\e[31mPASS"}]}\n'
    "  - {name: breaks, script: [{fail: {error: gave up, kind: network}}]}\n",
)
RUNS = "refs/evalrepo/runs/"


def flat(text: str) -> str:
    """The text with its lines joined."""
    return " ".join(text.split())


def tier(script: str) -> str:
    return CONFIG.replace("{default: {script: follows}}", f"{{default: {{script: {script}}}}}")


def run_of(repo: Repo) -> str:
    run: str = repo.records()[-1]["run"]
    return run


def test_a_pass_is_explained_check_by_check_with_words_rows_and_files(repo: Repo):
    repo.run("run")
    said = repo.run("show", "S1", "--explain")
    assert said.startswith(f"S1-typo · scripted/default · run {run_of(repo)} · rep 1 of 3: PASS\n")
    assert f"the scenario's words: as run {run_of(repo)} keeps it" in said
    assert "axis A: pass\n  looks: pass\n    asks order: {first: {tool: read, path: README.md}" in said
    assert '    | {"type":"tool_call"' in said
    assert "  fixed: pass\n    asks file: {path: README.md, matches: hallo}\n" in said
    assert "    README.md: fits (README.md, changed, 6 bytes)\n    | hallo\n" in said
    assert "verdict: PASS\n  2 of 2 gating checks passed, none failed, none is without an answer\n" in said
    assert "  axis A pass, axis B pass\n" in said
    assert "kept beside the transcript: files/README.md, outcome.json" in said
    name = said.split("git show ")[1].replace("\\\n", "").strip()
    assert '"type":"tool_call"' in repo.git("show", name)
    assert max(map(len, (line for line in said.splitlines() if not line.startswith("file")))) <= 80


def test_without_a_number_the_first_rep_that_did_not_pass_is_explained(repo: Repo):
    repo.commit({"subjects/style/GUIDE.md": "Be brief.\n"})
    repo.run("run", "--reps", "2", exit=1)
    said = repo.run("show", "S1", "--explain")
    assert "rep 1 of 2: FAIL" in said
    assert "the first that did not pass; --rep N explains another" in said
    assert "  looks: fail\n" in said
    assert "no call of `read`" in said
    assert "looks (axis A) failed: one gating check that fails makes FAIL, whatever the others say" in flat(said)
    assert "rep 2 of 2: FAIL" in repo.run("show", "S1", "--explain", "--rep", "2")


def test_each_vote_of_a_judge_stands_under_its_check_with_reason_and_pieces(empty: Repo):
    count = empty.path.parent / "n"
    body = JUDGE.replace('"yes"', f'["yes", "no", "yes"][open({str(count)!r}, "a").tell() % 3]')
    body += f'if "How deep?" not in text: open({str(count)!r}, "a").write("x")\n'
    repo = made(empty, body=body)
    repo.run("run", "S1", "--tier", "told")
    said = repo.run("show", "S1", "--explain")
    assert "  judged: pass, by judge\n    asks judge: {rubric: words, question: told}\n" in said
    assert "judge words/told “Is it told?”: yes · command stub-1; 3 calls, $0.7500" in flat(said)
    assert "split votes: the judge does not agree with itself" in said
    assert "vote 2: no. It is. [p2 the agent says] · judge/" in flat(said)
    vote = only(repo)[1].judged[0].votes[1]
    assert f"judge/{vote.prompt[:16]}.txt, judge/{vote.reply[:16]}.txt" in flat(said)
    assert "  M4: 2 of 3 (judge)\n    asks judge: {rubric: words, question: depth, votes: 1}\n" in said
    assert "judge words/depth “How deep?”: 2 · command stub-1; 1 call, $0.2500" in flat(said)


def test_a_judge_that_broke_is_named_as_the_reason_of_the_error(empty: Repo):
    repo = made(empty, body="print('yes')\n")
    repo.run("run", "S1", "--tier", "told", exit=4)
    said = flat(repo.run("show", "S1", "--explain"))
    assert "axis A: pass says-it: pass" in said
    assert "axis B: error judged: error, by judge" in said
    assert "vote 1: none (try 2): not one JSON object: 'yes'" in said
    assert "no gating check failed, and judged (axis B) has no answer: the judge gave none" in said
    assert "M4: – (judge)" in said


def test_metrics_show_the_rung_that_was_reached_and_unset_ones_a_dash(empty: Repo):
    empty.commit(SCORED, "the world")
    empty.run("run")
    said = empty.run("show", "S1", "--explain")
    assert "  M3: 3 of 3 (mechanical)\n    asks ladder: the first rung whose checks all passed\n" in said
    assert "    3 if looks (pass) ← this one\n    0 otherwise\n" in said
    assert "  M1: – (human)\n" in said
    shown = empty.run("show", "S1")
    assert "M1 – (human) not scored yet" in shown
    assert "no score" not in shown


def test_a_persons_score_shows_the_line_that_the_evidence_names(empty: Repo):
    empty.commit(SCORED | {"scenarios/S1-typo.yaml": SCORED["scenarios/S1-typo.yaml"] + "rubric: style\n"}, "the world")
    empty.run("run")
    typed(empty, "score", "S1", text="2\nline 4 of the log\n-\n")
    said = empty.run("show", "S1", "--explain")
    assert "asks a person: Was the goal met? (0 not at all; 1 in part; 2 yes, unshown; 3 yes, and shown)" in flat(said)
    assert "    Test Person 2: line 4 of the log\n" in said
    row = repo_row(empty, 4)
    assert row[:40] in said.split("Test Person 2")[1].replace("\n    | ", "")
    assert "scored by Test Person" in said


def repo_row(repo: Repo, line: int) -> str:
    """A line of the only rep's log."""
    record = repo.records()[0]
    executed = record["rescored_from"] or record["run"]
    return repo.git("show", f"{RUNS}{executed}:{record['reps'][0]['transcript']['path']}").split("\n")[line - 1]


def test_trouble_of_the_harness_comes_before_every_check_and_its_attempts_are_listed(repo: Repo):
    repo.commit({"evalrepo.yaml": tier("breaks"), "scenarios/S1-typo.yaml": BLIND})
    repo.run("run", "--reps", "1", exit=4)
    said = flat(repo.run("show", "S1", "--explain"))
    assert "attempt 1: ERROR(network), tried again" in said
    assert "axis A: skipped looks: skipped" in said
    assert "verdict: ERROR(network) trouble of the harness, not the agent's: " in said
    assert "that comes before every check, so none was asked" in said


def test_what_is_asked_before_the_checks_is_told_with_what_did_not_hold(repo: Repo):
    asked = (
        "preconditions: [{id: there, file: {path: README.md}}]\n"
        "validity: [{id: edits, error: idle-hands, any_call: {tool: edit}}]\nchecks:"
    )
    idle = 'Status: COMPLETE"\n  - {name: idle, script: [{read: README.md}, {say: no}]}\n'
    text = (
        SCENARIO.replace("checks:", asked, 1)
        .replace('Status: COMPLETE"\n', idle)
        .replace("ERROR: empty", "ERROR: idle-hands")
    )
    repo.commit({"scenarios/S1-typo.yaml": text, "evalrepo.yaml": tier("idle")})
    repo.run("run", "--reps", "1", exit=4)
    said = repo.run("show", "S1", "--explain")
    assert "before the checks\n  precondition there: –\n    asks file: {path: README.md}\n" in said
    assert "  validity check edits: does not hold\n    asks any_call: {tool: edit}\n" in said
    assert "verdict: ERROR(idle-hands)\n  a validity check failed: validity check edits: no call of" in said
    repo.commit({"evalrepo.yaml": CONFIG})
    repo.run("run", "--reps", "1")
    said = repo.run("show", "S1", "--explain")
    assert "  precondition there: holds\n" in said
    assert "  validity check edits: holds\n" in said


def test_what_a_hostile_transcript_says_is_neutralised(repo: Repo):
    repo.commit({"evalrepo.yaml": tier("hostile"), "scenarios/S1-typo.yaml": BLIND.replace(
        "conformance:", "  - {id: says, axis: C, gating: false, text: {matches: pwned}}\nconformance:"
    )})  # fmt: skip
    repo.run("run", "--reps", "1", exit=1)
    said = repo.run("show", "S1", "--explain")
    assert "pwned" in said
    assert "\\u202e" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert not {"\x1b", "\x07", "\u202e"} & set(json.dumps(repo.json("show", "S1", "--explain"), ensure_ascii=True))


def test_the_words_are_those_of_then_wherever_they_still_stand(repo: Repo):
    repo.run("run", "--reps", "1")
    run = run_of(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("matches: hallo", "matches: hall")}, "looser")
    assert "asks file: {path: README.md, matches: hallo}" in repo.run("show", run, "--explain")
    repo.git("update-ref", "-d", RUNS + run)
    said = repo.run("show", run, "--explain")
    assert "asks file: {path: README.md, matches: hallo}" in said
    assert "the scenario's words: as it is at commit" in said
    found = repo.records()[0]["digests"]["parts"]["instrument"]["checks"]
    shallow = repo.path.parent / "shallow"
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(shallow))
    said = Repo(shallow, repo.home).run("show", run, "--explain")
    assert "the words of its checks are not at hand" in flat(said)
    assert "asks" not in said
    assert found


def test_what_is_pruned_or_not_fetched_is_said_with_the_command_and_the_record_is_still_explained(repo: Repo):
    repo.run("run", "--reps", "1")
    run = run_of(repo)
    repo.run("transcripts", "prune", run, "--not-pushed")
    said = repo.run("show", run, "--explain")
    assert "its transcripts were pruned here: what follows is what the record itself holds" in flat(said)
    assert f"  → evalrepo transcripts fetch --run {run}\n" in said
    assert "`read`: comes before the first" in said
    assert "README.md: fits (README.md)" in said
    assert "\n    | " not in said
    repo.git("update-ref", "-d", RUNS + run)
    said = flat(repo.run("show", run, "--explain"))
    assert "the reference of its run is not in this clone: what follows is what the record itself holds" in said
    assert f"→ evalrepo transcripts fetch --run {run}" in said
    data = repo.json("show", run, "--explain")["explained"]
    assert (data["lacking"], data["bring"]) == (
        "the reference of its run is not in this clone",
        f"evalrepo transcripts fetch --run {run}",
    )


def test_a_transcript_that_is_not_the_recorded_one_is_not_quoted(repo: Repo):
    repo.run("run", "--reps", "1")
    run, path = run_of(repo), repo.records()[0]["reps"][0]["transcript"]["path"]
    repo.git("read-tree", f"--index-output={repo.home}/index", RUNS + run)
    (repo.home / "other").write_text('{"type":"assistant","text":"forged"}\n' * 9)
    blob = repo.git("hash-object", "-w", str(repo.home / "other")).strip()
    repo.env["GIT_INDEX_FILE"] = str(repo.home / "index")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    tree = repo.git("write-tree").strip()
    del repo.env["GIT_INDEX_FILE"]
    repo.git("update-ref", RUNS + run, repo.git("commit-tree", "-m", "forged", tree).strip())
    said = repo.run("show", run, "--explain")
    assert "the stored transcript is not the one that was recorded: what follows is what the record itself" in flat(
        said
    )
    assert "→ evalrepo verify --records" in said
    assert "forged" not in said


@pytest.mark.isolation
def test_a_sealed_reserve_is_explained_by_outcomes_alone_until_it_is_unsealed(empty: Repo):
    empty.commit(HELD, "the world")
    freeze(empty)
    empty.run("run", "--reserve", *WHY)
    sealed = empty.run("show", "S1-reserve", "--explain")
    data = json.dumps(empty.json("show", "S1-reserve", "--explain"))
    for said in (sealed, data):
        assert not [word for word in ("misspelled", "hallo", "README", "order", "tool_call") if word in said]
    assert "axis A: pass\n  looks: pass\n" in sealed
    assert "verdict: PASS\n  2 of 2 gating checks passed" in sealed
    assert "sealed until it is retired: no evidence is shown" in flat(sealed)
    assert "evalrepo show" in sealed
    assert "--unseal --why REASON" in sealed
    refused = empty.run("show", "S1-reserve", "--explain", "--rep", "9", "--unseal", *WHY, exit=2)
    assert "no rep 9" in refused
    assert "unsealed" not in refused
    opened = empty.run("show", "S1-reserve", "--explain", "--unseal", "--why", "nobody understands this result")
    assert "unsealed: S1-reserve" in opened
    assert "asks order: {first: {tool: read, path: README.md}, before: {tool: edit}}" in flat(opened)
    assert "`read`: comes before the first `edit`" in flat(opened)
    assert '    | {"type":"tool_call"' in opened
    assert "README.md: fits (README.md, changed, 6 bytes)" in opened
    assert "`read`: comes before" in empty.run("show", "S1-reserve", "--explain")


def test_a_result_by_hand_has_nothing_to_explain_and_that_is_said(repo: Repo):
    path = "AgentsReport/evaluation/2026-07-01_scenario-S1.md"
    repo.commit({path: "Scenario: S1\nStatus: COMPLETE\nM1 success: 2   evidence: README.md\n"}, "scored by hand")
    for what in (path, path.rpartition("/")[2]):
        said = flat(repo.run("show", what, "--explain", exit=2))
        assert f"{path} was scored by a person, by hand" in said
        assert "nothing to explain" in said
        assert f"hint: evalrepo show {path}" in said
    for more in ((), ("--explain",)):
        said = flat(repo.run("show", "S1", *more, exit=2))
        assert f"no run measured S1; {path} was scored by a person, by hand hint: evalrepo show {path}" in said


def test_what_cannot_be_meant_is_said(repo: Repo):
    repo.run("run", "--reps", "1")
    run = run_of(repo)
    assert "no record is called nope" in repo.run("show", "nope", "--explain", exit=2)
    said = repo.run("show", run, "--explain", "--rep", "99", exit=2)
    assert f"run {run} has no rep 99 of S1-typo" in said
    assert "hint: it has 1" in said
    repo.commit({"evalrepo.yaml": CONFIG.replace("{default:", "{other: {script: follows}, default:")})
    repo.run("run", "--reps", "1")
    said = repo.run("show", "S1", "--explain", exit=2)
    assert "S1 means 2 cells, and one rep is explained at a time" in said
    hint = said.split("hint: evalrepo ")[1].split()
    assert "rep 1 of 1: PASS" in repo.run(*hint)
    assert "--rep goes with --explain" in repo.run("show", run, "--rep", "1", exit=2)


def test_a_record_that_was_judged_again_is_explained_by_the_checks_that_judged_it(repo: Repo):
    repo.run("run", "--reps", "1")
    first = run_of(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("matches: hallo", "matches: hall")}, "looser")
    repo.run("rescore", first)
    again = next(r["run"] for r in repo.records() if r["rescored_from"])
    said = repo.run("show", again, "--explain")
    assert f"judged again from run {first}" in said
    assert "asks file: {path: README.md, matches: hall}" in said
    assert f"git show {RUNS}{first}:" in said
    assert "asks file: {path: README.md, matches: hallo}" in repo.run("show", first, "--explain")


def test_what_a_judge_said_when_it_was_asked_again_is_explained_with_its_question(empty: Repo):
    repo = made(empty)
    repo.run("run", "S1", "--tier", "told")
    first = run_of(repo)
    repo.commit({"rubrics/words.md": RUBRIC.replace("Is it told?", "Is it told to a reader?")}, "another question")
    repo.run("rescore", "S1", "--judge")
    again = next(r["run"] for r in repo.records() if r["rescored_from"])
    said = flat(repo.run("show", again, "--explain"))
    assert "judge words/told “Is it told to a reader?”: yes" in said
    assert f"kept in {RUNS}{again}: judge/" in said
    assert f"git show {RUNS}{first}:" in said
    assert "judge words/told “Is it told?”: yes" in flat(repo.run("show", first, "--explain"))


def test_the_same_in_json(repo: Repo):
    repo.run("run", "--reps", "1")
    data = repo.json("show", "S1", "--explain")
    assert data["schema"] == 1
    found = data["explained"]
    assert (found["run"], found["rep"], found["verdict"], found["sound"]) == (run_of(repo), 1, "PASS", True)
    assert [(a["name"], a["outcome"], a["by"]) for a in found["axes"]] == [
        ("A", "pass", ["looks"]),
        ("B", "pass", ["fixed"]),
    ]
    [fixed] = found["axes"][1]["checks"]
    assert fixed["asks"] == "file: {path: README.md, matches: hallo}"
    assert fixed["evidence"] == [
        {"text": "README.md: fits", "file": "README.md", "line": 0, "row": "hallo", "left": "changed, 6 bytes"}
    ]
