"""Rubrics: what they ask, their digest, and what of a judge is recorded."""

from __future__ import annotations

from evalrepo.formats import yaml
from evalrepo.records.judgement import Judgement, Vote
from evalrepo.records.record import Rep, Timing, Verdict
from evalrepo.records.rubric import anchors

TEXT = """\
---
title: Reports
judge: {model: "anthropic:claude-x", votes: 5}
tripwire: 0b1f7a2e-6d5a-4f0e-9f0e-3f6d3c1a2b4c
questions:
  clear: {ask: Is it clear?, show: words}
metrics:
  M4: {title: Depth, ask: How deep?, scale: {0: guessed, 3: shown}}
---
Look at the report alone.
"""


def rubric(text: str = TEXT):
    return yaml.rubric_file(text.encode(), "rubrics/reports.md")


def test_questions_and_metrics_are_asked_alike_and_only_a_scale_has_anchors():
    head = rubric().head
    assert {name: q.offered for name, q in head.asked.items()} == {"clear": ("yes", "no"), "M4": ("0", "1", "2", "3")}
    assert head.asked["clear"].show == ("words",)
    assert head.asked["M4"].unanchored == ("1", "2")
    assert anchors("M4", rubric()).scale["3"] == "shown"
    assert anchors("clear", rubric()) is None


def test_a_rubric_asks_for_votes_at_least():
    assert [rubric().head.votes(n) for n in (1, 3, 7)] == [5, 5, 7]
    assert rubric(TEXT.replace(", votes: 5", "")).head.votes(3) == 3


def test_the_digest_is_of_what_is_read_and_of_nothing_else():
    same = (TEXT.replace("3f6d3c1a2b4c", "000000000000"), TEXT.replace("0: guessed", '"0": guessed'))
    assert {rubric(text).sha256 for text in same} == {rubric().sha256}
    other = (TEXT.replace("guessed", "assumed"), TEXT.replace("alone", "only"), TEXT.replace("claude-x", "claude-y"))
    assert len({rubric(text).sha256 for text in (*other, TEXT)}) == 4


def test_a_judgement_is_kept_with_its_rep_and_a_rep_without_one_is_written_as_before():
    rep = Rep(rep=1, attempt=1, verdict=Verdict.PASS, timing=Timing(start="2026-07-06T12:00:00Z", seconds=1.0))
    assert "judged" not in rep.model_dump_json()
    votes = tuple(Vote(answer=a, reason="r", places=("1",), prompt="0" * 64) for a in ("yes", "no", "yes"))
    made = Judgement(
        rubric="r", rubric_sha256="0" * 64, question="q", kind="command", judge="j", answer="yes", votes=votes
    )
    kept = rep.model_copy(update={"judged": (made,)})
    assert Rep.model_validate_json(kept.model_dump_json()) == kept
    assert made.split
    assert not made.model_copy(update={"votes": votes[::2]}).split
    assert not {"override", "broken", "cached", "turn"} & set(made.model_dump())
