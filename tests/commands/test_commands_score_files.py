"""Cards that were edited badly, editors that fail, results that people wrote by hand, and how scores are shown."""

from __future__ import annotations

import re

import pytest

from tests.commands.conftest import GUIDE, Repo
from tests.commands.test_commands_score import HAND, SCORED, measured, scores, typed

__all__ = ["measured"]
FOLDER = "AgentsReport/evaluation"
TODAY = re.compile(r"20\d\d-\d\d-\d\d")


def card(repo: Repo, *lines: str) -> str:
    return "\n".join([f"Scenario: S1\nRun: {repo.records()[-1]['run']}\nRep: 1", *lines]) + "\n"


def imported(repo: Repo, text: str) -> list[tuple[int, str, str]]:
    """Line, code and message of each finding of a file that cannot be used."""
    (repo.path / "cards.txt").write_text(text)
    found = repo.json("score", "--import", "cards.txt", exit=1)["findings"]
    assert len(repo.records()) == 1
    assert all(f["hint"] for f in found)
    return [(f["line"], f["code"], f["message"]) for f in found]


def test_all_that_is_wrong_on_cards_is_said_at_once_each_with_its_line(measured: Repo):
    first = card(measured, "M1: 2 evidence: line 400", "M4: 9 evidence: line 3", "nice")
    last = "Scenario: S9\nRun: x\nRep: 1\nM1: 1 evidence: line 3\n"
    assert [(line, code) for line, code, _ in imported(measured, f"{first}\n{last}")] == [
        (4, "SCO006"),
        (5, "SCO001"),
        (6, "SCO003"),
        (8, "SCO005"),
    ]


def test_evidence_that_is_not_there_is_refused_with_the_place_to_look(measured: Repo):
    (measured.path / "cards.txt").write_text(card(measured, "M1: 2 evidence: line 400"))
    said = measured.run("score", "--import", "cards.txt", exit=1)
    run = measured.records()[0]["run"]
    assert re.search(r"cards.txt:4:1: SCO006 M1: not there: line 400 \(the log has lines 1 to \d+\)", said)
    assert f"hint: what happened: evalrepo show {run} S1-typo" in said
    assert "M1" in measured.run("show", run, "S1-typo")


def test_one_rep_on_two_cards_is_a_finding_and_not_the_last_word(measured: Repo):
    text = card(measured, "M1: 2 evidence: line 4") + "\n" + card(measured, "M1: 3 evidence: line 4", "By: Test Person")
    assert imported(measured, text) == [(9, "SCO004", "Test Person scores M1 of this rep on another card too")]
    (measured.path / "cards.txt").write_text(text.replace("By: Test Person", "By: Ann"))
    measured.run("score", "--import", "cards.txt")


def test_a_card_whose_head_is_mistyped_is_not_taken_for_notes_of_the_one_before(measured: Repo):
    text = card(measured, "M1: 2 evidence: line 4", "Notes / weaknesses observed:", "It was quick.")
    lost = card(measured, "M4: 3 evidence: line 4").replace("Scenario", "scenario")
    assert [(line, code) for line, code, _ in imported(measured, text + lost)] == [
        (7, "SCO003"),
        (8, "SCO003"),
        (10, "SCO003"),
    ]


def test_a_byte_order_mark_and_another_status_are_read(measured: Repo):
    text = card(measured, "Status: BLOCKED", "M1: 2 evidence: line 4")
    (measured.path / "cards.txt").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    measured.run("score", "--import", "cards.txt")
    assert scores(measured)["M1"][0] == 2
    (reason,) = [r["reason"] for r in measured.records() if r.get("reason")]
    assert reason == "scored by Test Person; rep 1, Test Person: status BLOCKED"


@pytest.mark.parametrize("editor", ["false", "no-such-editor"])
def test_an_editor_that_fails_is_said_with_another_way(measured: Repo, editor: str):
    measured.env["EDITOR"] = editor
    said = measured.run("score", "S1", "--editor", exit=2)
    assert f"the editor did not do: {editor}" in said
    assert "hint: set EDITOR, or: evalrepo score S1 --export cards.txt" in said


def test_an_editor_that_saves_nothing_records_nothing_and_bad_cards_are_kept(measured: Repo):
    measured.env["EDITOR"] = "true"
    assert "the editor changed nothing, and nothing was recorded" in measured.run("score", "S1", "--editor")
    measured.env["EDITOR"] = r"sed -i 's/\(M1 .*\)–   evidence:/\1 2 evidence: line 400/'"
    said = measured.run("score", "S1", "--editor", exit=1)
    kept = measured.path / said.split("then evalrepo score --import ")[1].strip()
    kept.write_text(kept.read_text().replace("line 400", "line 4"))
    measured.run("score", "--import", str(kept))
    assert scores(measured)["M1"] == (2, "human", "line 4")


def test_a_card_lists_metrics_as_the_template_does_and_what_this_person_gave(measured: Repo):
    typed(measured, "score", "S1", "--by", "Ann", text="2\nline 4\n-\n")
    mine = [
        line for line in measured.run("score", "S1", "--by", "Ann", "--export", "-").splitlines() if "M" in line[:3]
    ]
    assert [re.sub(" +", " ", line) for line in mine] == [
        "M1 Was the goal met?: 2 evidence: line 4",
        "# M3: 3 (mechanical)",
        "M4 Was it verified?: – evidence:",
    ]
    assert "M1 Was the goal met?: 0-3   evidence:\n" in measured.run("score", "S1", "--export", "-")


def test_show_says_who_scored_and_when_and_log_follows_the_scores(measured: Repo):
    typed(measured, "score", "S1", "--by", "Ann", text="2\nline 4\n-\n")
    typed(measured, "score", "S1", "--by", "Bob", text="1\nline 4\n-\n")
    shown = TODAY.sub("DAY", measured.run("show", "S1"))
    assert "M1 1 of 3 (human: Ann DAY, Bob DAY) Ann 2: line 4; Bob 1: line 4" in shown.replace("\n    ", " ")
    rows = [line.split() for line in measured.run("log", "S1").splitlines()]
    assert ["commit", "date", "M1", "M3"] in rows
    assert rows[rows.index(["commit", "date", "M1", "M3"]) + 2][2:] == ["1", "3"]
    assert ["scored", "by", "Ann,", "Bob"] in rows


def test_a_result_by_hand_is_shown_and_followed_with_the_subject_of_the_commit_that_added_it(measured: Repo):
    added = measured.commit({f"{FOLDER}/2026-01-05_scenario-S1.md": HAND.format(M1=3, M4=1)}, "by hand")
    subject = measured.records()[0]["digests"]["subject"]
    measured.commit({"subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "another wording")
    (one,) = measured.json("show", "2026-01-05_scenario-S1")["by_hand"]
    assert (one["scenario"], one["commit"], one["subject"], one["status"]) == ("S1-typo", added, subject, "COMPLETE")
    assert one["metrics"]["M1"] == {"score": 3, "evidence": "README.md", "source": "human"}
    assert f"subject {subject[:8]}, of commit {added[:7]}, which added it" in measured.run(
        "show", f"{FOLDER}/2026-01-05_scenario-S1.md"
    )
    assert f"by hand: 2026-01-05 M1 3, M4 1 (subject {subject[:8]}, 2026-01-05_scenario-S1.md)" in measured.run(
        "log", "S1"
    )
    assert [h["day"] for h in measured.json("log", "S1")["by_hand"]] == ["2026-01-05"]


def test_what_cannot_be_read_of_a_result_by_hand_counts_nowhere_and_lint_says_so(measured: Repo):
    card = HAND.format(M1=3, M4=1).replace("evidence: README.md", "evidence:").replace("1 evidence", "8 evidence")
    measured.commit(
        {
            f"{FOLDER}/2026-01-05_scenario-S1.md": card,
            f"{FOLDER}/2026-01/2026-01-06_scenario-S1.md": HAND.format(M1=2, M4=2).replace("S1\n", "S8\n"),
            f"{FOLDER}/2026-13-06_scenario-S1.md": HAND.format(M1=2, M4=2),
        },
        "by hand",
    )
    found = [f for f in measured.json("lint")["findings"] if f["code"].startswith("SCO")]
    assert sorted((f["file"].rpartition("/")[2], f["line"], f["code"]) for f in found) == [
        ("2026-01-05_scenario-S1.md", 6, "SCO002"),
        ("2026-01-05_scenario-S1.md", 7, "SCO001"),
        ("2026-01-06_scenario-S1.md", 4, "SCO007"),
        ("2026-13-06_scenario-S1.md", 0, "SCO007"),
    ]
    assert measured.json("diff", "HEAD", exit=None)["background"]["by_hand"] == []


def test_two_people_who_scored_in_clones_of_their_own_are_joined(measured: Repo):
    both = []
    for name, score in (("Ann", "3"), ("Bob", "1")):
        (measured.path.parent / name).mkdir()
        clone = Repo(measured.path.parent / name, measured.home)
        clone.git("clone", "-q", str(measured.path), ".")
        clone.git("config", "user.name", name)
        clone.git("config", "user.email", "someone@example.org")
        clone.run("transcripts", "fetch")
        typed(clone, "score", "S1", text=f"{score}\nline 4\n-\n")
        both.append(clone)
    ann, bob = both
    bob.git("pull", "-q", "--no-rebase", "--no-edit", str(ann.path), "main")
    beside = [e for e in bob.json("diff", "HEAD", exit=None)["validity"]["excluded"] if "scored beside" in e["why"]]
    assert len(beside) == 1
    command = beside[0]["why"].split("; evalrepo ")[1]
    assert re.search("(Ann and Bob|Bob and Ann) agree on 0 of 1 scores", bob.run(*command.split()))
    (last,) = [r for r in bob.records() if r.get("reason", "").startswith("joined with the scores of")]
    found = last["reps"][0]["metrics"]["M1"]
    assert (found["score"], sorted(r["by"] for r in found["ratings"])) == (1, ["Ann", "Bob"])
    assert bob.json("diff", "HEAD", exit=None)["cells"][0]["after"]["metrics"]["M1"] == 1
    assert "human: " in bob.run("show", "S1")
    assert "nothing to join" in bob.run("score", "S1", "--join")


def test_reps_whose_transcripts_were_pruned_are_left_out_by_name_and_alone_they_are_refused(empty: Repo):
    tiers = "{tiers: {default: {script: follows}, again: {script: follows}}}"
    config = SCORED["evalrepo.yaml"].replace("{tiers: {default: {script: follows}}}", tiers)
    empty.commit(SCORED | {"evalrepo.yaml": config}, "the world")
    empty.run("run", "--tier", "default")
    (pruned,) = {r["run"] for r in empty.records()}
    empty.run("run", "--tier", "again")
    empty.run("transcripts", "prune", "--not-pushed", pruned)
    said = " ".join(empty.run("score", "S1", "--export", "cards.txt").split())
    assert "1 card in cards.txt" in said
    assert f"left out: S1-typo · scripted/default · run {pruned}: its transcripts were pruned here" in said
    assert f"evalrepo transcripts fetch --run {pruned}" in said
    for way in (("--export", "more.txt"), ("--editor",), ()):
        said = " ".join(empty.run("score", pruned, *way, exit=2).split())
        assert "without its transcript nobody can check the evidence" in said
        assert f"hint: evalrepo transcripts fetch --run {pruned}" in said
