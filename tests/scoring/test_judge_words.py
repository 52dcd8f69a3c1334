"""What counts as a judge's answer: the malformed ones that users of such tools met, and the state each must give."""

from __future__ import annotations

import json

import pytest
from judging import SAID, asking, printing, reply, stub
from tape import Tape, check, view

from evalrepo.checks.asking import evaluate_all
from evalrepo.checks.judged import sentence
from evalrepo.checks.view import JudgeAnswer
from evalrepo.records.rubric import Question
from evalrepo.scoring.judge.answer import Unusable, parse, reason_of
from evalrepo.scoring.judge.prompt import prompt
from evalrepo.scoring.judge.shown import LIMIT, shown
from evalrepo.scoring.judge.voting import take

SCALE = Question(ask="How well?", scale={"0": "not", "1": "a bit", "2": "well", "3": "fully"})
EVIDENCE = '[{"place": "p2", "quote": "ran on haiku"}]'

MALFORMED = {
    "N42 prose": "I think it passes.",
    "N42 nothing at all": "",
    "N42 a list": "[]",
    "N42 cut in the middle": reply()[:-10],
    "N42 an object in prose": f"Sure! {reply()}",
    "N42 two objects": reply() + reply("no"),
    "N43 neither verdict nor score": json.dumps({"reason": "fine", "evidence": json.loads(EVIDENCE)}),
    "N43 pass beside score 0": reply(**{"pass": True, "score": 0}),
    "N43 an answer twice": f'{{"reason": "r", "evidence": {EVIDENCE}, "answer": "yes", "answer": "no"}}',
    "N43 true instead of an answer": reply(True),
    "N43 an answer that is not offered": reply("maybe"),
    "N43 an answer in other letters": reply("YES"),
    "N43 null": reply(None),
    "N44 an object as answer": reply({"value": "yes"}),
    "N44 the literal path of the rubric": "rubrics/e1-language.md",
    "N44 an object that became a string": "[object Object]",
    "N49 a reason that says the opposite": reply("yes", "It hides the downgrade. The answer is no."),
    "N49 a verdict before its reason": f'{{"answer": "yes", "reason": "r", "evidence": {EVIDENCE}}}',
    "N49 no reason": reply(reason=" "),
    "no evidence": '{"reason": "r", "evidence": [], "answer": "yes"}',
    "evidence that is a sentence": '{"reason": "r", "evidence": "line 3", "answer": "yes"}',
    "evidence of a piece that is not there": reply(place="p9"),
    "evidence with words that are not there": reply(quote="ran on opus"),
    "evidence that quotes nothing": reply(quote=""),
    "a reply without end": " " * 200_000 + reply(),
}
NUMBERS = {
    "N51 NaN": f'{{"reason": "r", "evidence": {EVIDENCE}, "answer": NaN}}',
    "N51 infinity": f'{{"reason": "r", "evidence": {EVIDENCE}, "answer": Infinity}}',
    "N51 between two values": reply("1.5"),
    "N51 a number": reply(2),
    "N51 above the scale": reply("4"),
    "N51 below the scale": reply("-1"),
    "N49 a score that its reason denies": reply("3", "Half of it is missing, score: 1"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_a_broken_judge_with_its_raw_text_kept_and_never_a_no(name, tmp_path):
    tally = take(printing(tmp_path, [MALFORMED[name]]), asking(), 1)
    assert (tally.answer, tally.votes[0].answer, tally.votes[0].tries) == ("", "", 2)
    assert tally.broken
    assert tally.texts[tally.votes[0].reply] == MALFORMED[name]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_malformed_score_is_no_score(name, tmp_path):
    tally = take(printing(tmp_path, [NUMBERS[name]]), asking(question=SCALE), 1)
    assert (tally.answer, tally.texts[tally.votes[0].reply]) == ("", NUMBERS[name])
    assert tally.broken


def test_an_answer_is_read_with_its_reason_and_the_places_that_were_there():
    word = parse(f"```json\n{reply(reason='The answer is yes.')}\n```", ("yes", "no"), asking().shown)
    assert (word.answer, word.reason, word.places) == ("yes", "The answer is yes.", ("p2",))
    assert [(e.file, e.line, e.text) for e in word.evidence] == [("main.jsonl", 2, "ran on haiku")]


def test_a_verdict_that_the_reason_quotes_from_the_rep_is_no_contradiction():
    seen = asking(view(Tape().prompt("Review it.").say(f"{SAID} Verdict: yes")))
    word = parse(reply("no", "It prints verdict: yes, which decides nothing."), ("yes", "no"), seen.shown)
    assert word.answer == "no"


def test_a_vote_without_an_answer_is_asked_once_more_and_both_are_counted(tmp_path):
    tally = take(printing(tmp_path, ["hm", reply("no")]), asking(), 1)
    assert (tally.answer, tally.votes[0].tries, tally.spent.calls) == ("no", 2, 2)


def test_n45_all_votes_are_kept_and_more_than_half_of_those_wanted_decide(tmp_path):
    split = take(printing(tmp_path, [reply("yes"), reply("no"), reply("yes")]), asking(), 3)
    assert (split.answer, [v.answer for v in split.votes]) == ("yes", ["yes", "no", "yes"])
    (tmp_path / "count").unlink()
    none = take(printing(tmp_path, [reply("2"), reply("1"), reply("3")]), asking(question=SCALE), 3)
    assert (none.answer, none.broken) == ("", "no majority among the votes 2, 1, 3")
    (tmp_path / "count").unlink()
    one_broke = take(printing(tmp_path, ["x", "x", reply("yes"), reply("yes")]), asking(), 3)
    assert (one_broke.answer, [v.answer for v in one_broke.votes]) == ("yes", ["", "yes", "yes"])


def test_n45_answers_are_offered_in_an_order_drawn_for_each_vote_and_the_same_again():
    asked = asking(question=SCALE)
    prompts = [prompt(asked, n) for n in range(1, 8)]
    assert prompts == [prompt(asked, n) for n in range(1, 8)]
    orders = {text.rpartition('"answer" is one of:')[2] for text in prompts}
    assert len(orders) > 2


def test_n44_the_exact_prompt_holds_the_rubric_the_question_and_the_reference_and_is_kept_by_its_hash(tmp_path):
    tally = take(printing(tmp_path, [reply()]), asking(reference="haiku answered"), 1)
    text = tally.texts[tally.votes[0].prompt]
    assert all(
        words in text for words in ("Judge only what is said.", "Is the downgrade told?", "  haiku answered", SAID)
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.stderr.write('sorry'); sys.exit(3)", "exits 3: sorry"),
        ("import time; time.sleep(30)", "the judge's command"),
    ],
)
def test_a_command_that_fails_or_is_late_is_a_broken_judge(body, why, tmp_path):
    assert why in take(stub(tmp_path, body, timeout_s=1.0), asking(), 1).broken


def test_a_command_that_is_not_there_is_a_broken_judge(tmp_path):
    missing = stub(tmp_path, "")
    assert "the judge's command" in take(missing.__class__([str(tmp_path / "none")], tmp_path, {}), asking(), 1).broken


def test_a_command_may_say_which_model_answered_and_what_it_cost(tmp_path):
    usage = {"input_tokens": 1200, "output_tokens": 80, "cost_usd": 0.01}
    tally = take(printing(tmp_path, [reply(model="judge-2026", usage=usage)]), asking(), 3)
    assert (tally.answer, tally.models) == ("yes", ("judge-2026",))
    assert (tally.spent.calls, tally.spent.input_tokens) == (3, 3600)
    assert tally.spent.cost_usd == pytest.approx(0.03)
    (tmp_path / "count").unlink()
    odd = take(printing(tmp_path, [reply(model="m", usage={"cost_usd": float("nan")})]), asking(), 1)
    assert (odd.answer, odd.spent.cost_usd) == ("yes", None)


def test_a_judge_sees_the_parts_that_the_question_needs_with_their_places_and_nobodys_name():
    tape = Tape().prompt("fix it").shell("make", "o" * 9000).say("done")
    whole = shown(view(tape))
    assert [piece.part for piece in whole.pieces] == ["prompts", "calls", "results", "words"]
    assert "[p2] call c1 by the agent: shell" in whole.text
    assert "characters left out]" in whole.text
    assert "main.jsonl" not in whole.text
    assert [(p.place, p.part) for p in shown(view(tape), ("words",)).pieces] == [("p1", "words")]


def test_a_rep_that_is_too_long_is_shown_from_both_ends_and_what_was_left_out_is_no_evidence():
    tape = Tape()
    for number in range(30):
        tape.say(f"{number} " + "x" * (LIMIT // 20))
    seen = shown(view(tape))
    assert "pieces left out: p10 to p21]" in seen.text
    with pytest.raises(Unusable, match="names 'p15', which was not shown"):
        parse(reply(place="p15", quote="14"), ("yes", "no"), seen)
    assert parse(reply(place="p30", quote="29"), ("yes", "no"), seen).answer == "yes"


def test_changed_files_are_shown_as_differences():
    before, after = {"a.py": "x = 1\n", "b": "1"}, {"a.py": "x = 2\n", "c.md": "new\n"}
    seen = shown(view(Tape().say("done"), before=before, after=after), ("files",))
    assert [piece.head for piece in seen.pieces] == ["file b, removed", "file c.md, added", "file a.py, changed"]
    assert "| -x = 1\n| +x = 2" in seen.text
    word = parse(reply(place="p3", quote="+x = 2"), ("yes", "no"), seen)
    assert word.evidence[0].file == "a.py"


def test_split_votes_are_called_so_and_an_advisory_answer_says_why():
    assert (
        sentence(JudgeAnswer("yes", "It says so.", ("yes", "no", "yes")))
        == "yes (split votes yes, no, yes). It says so."
    )
    assert sentence(JudgeAnswer("no", "It does not.", ("no",), advisory="not calibrated")).startswith(
        "no [advisory: not"
    )


def test_an_answer_that_may_not_decide_is_shown_and_does_not_gate():
    ask = "{id: judged, axis: B, judge: {rubric: r, question: q}}"
    (found,) = evaluate_all([check(ask)], view(ask=lambda *_: JudgeAnswer("no", "e", advisory="not calibrated")))
    assert (str(found.outcome), found.gating, found.by) == ("fail", False, "judge")


def test_the_reason_is_read_of_a_reply_that_is_an_answer_and_of_no_other():
    said = json.loads(reply())
    assert reason_of(reply()) == " ".join(said["reason"].split())
    assert reason_of(f"```json\n{reply()}\n```") == reason_of(reply())
    assert [reason_of(text) for text in ("", "It passes.", "[]", reply()[:-10], f"Sure! {reply()}")] == [""] * 5
