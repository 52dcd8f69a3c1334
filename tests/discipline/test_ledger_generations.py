"""Whether old records may be judged by a newer instrument, from the ledger alone."""

from __future__ import annotations

import pytest

from evalrepo.discipline.generations import Rejudged, generation, instruments, may_rejudge
from evalrepo.records.event import Event

A, B, C, D = (letter * 64 for letter in "abcd")
R1 = "scenarios-reserve/R1.yaml"
PATHS = (R1, "rubrics/tone.md", "fixtures/box")


def ledger(*events: Event) -> dict[str, Event]:
    return {f"evalrepo.ledger/{number:026}.yaml": event for number, event in enumerate(events)}


def said(**fields: object) -> Event:
    return Event.model_validate(
        {"at": "2026-11-30T10:00:00Z", "by": "A <a@b.c>", "why": "an answer was wrong", **fields}
    )


def freeze(digest: str, number: int | None = None) -> Event:
    return said(event="freeze", paths=["scenarios-reserve"], instruments=[f"R1 {digest}"], generation=number)


def thaw(kind: str | None, path: str = R1) -> Event:
    return said(event="thaw", paths=[path], kind=kind)


@pytest.mark.parametrize(
    ("kind", "answer", "why"),
    [
        ("repair", "yes", "was thawed to repair it on 2026-11-30 (an answer was wrong)"),
        ("loosen", "yes", "was thawed to loosen it on 2026-11-30 (an answer was wrong)"),
        ("tighten", "stale", "was thawed to tighten it on 2026-11-30 (an answer was wrong)"),
        (None, "stale", "was thawed without saying how it changes on 2026-11-30 (an answer was wrong)"),
    ],
)
def test_the_kind_of_the_thaw_decides_whether_old_records_may_be_judged_again(kind, answer, why):
    assert may_rejudge(ledger(freeze(A), thaw(kind), freeze(B)), "R1", PATHS, A, B) == Rejudged(answer, why)


def test_one_tightening_on_the_way_is_enough():
    events = ledger(freeze(A), thaw("tighten"), freeze(B), thaw("repair"), freeze(C))
    assert [may_rejudge(events, "R1", PATHS, old, C).answer for old in (A, B, C)] == ["stale", "yes", "yes"]


def test_only_thaws_of_what_the_scenario_rests_on_count():
    others = thaw("tighten", "scenarios-reserve/R2.yaml"), thaw("tighten", "fixtures/boxes")
    assert may_rejudge(ledger(freeze(A), *others, freeze(B)), "R1", PATHS, A, B) == Rejudged("yes")
    for path in ("scenarios-reserve", "fixtures/box/README.md", "rubrics"):
        events = ledger(freeze(A), thaw("tighten", path), freeze(B))
        assert may_rejudge(events, "R1", PATHS, A, B).answer == "stale", path


def test_a_digest_from_before_the_first_freeze_is_judged_by_every_thaw_since():
    assert may_rejudge(ledger(freeze(A), thaw("repair"), freeze(B)), "R1", PATHS, D, B).answer == "yes"
    assert may_rejudge(ledger(freeze(A), thaw("tighten"), freeze(B)), "R1", PATHS, D, B).answer == "stale"


def test_what_no_freeze_made_of_it_is_unknown():
    events = ledger(freeze(A), thaw("repair"), freeze(B))
    assert may_rejudge(events, "R1", PATHS, B, A).answer == "unknown", "backwards"
    assert may_rejudge(events, "R1", PATHS, A, D).answer == "unknown", "not frozen yet"
    assert (
        may_rejudge(events, "R1", PATHS, A, D).why == "the ledger names no freeze from which dddddddd followed aaaaaaaa"
    )


def test_what_was_never_frozen_is_free_and_an_old_ledger_without_digests_counts_every_thaw():
    assert may_rejudge({}, "S1", ("scenarios/S1.yaml",), A, B) == Rejudged("yes")
    plain = said(event="freeze", paths=["scenarios-reserve"])
    assert may_rejudge(ledger(plain), "R1", PATHS, A, B) == Rejudged("yes")
    assert may_rejudge(ledger(plain, thaw("repair"), plain), "R1", PATHS, A, B).answer == "yes"
    assert may_rejudge(ledger(plain, thaw(None), plain), "R1", PATHS, A, B).answer == "stale"


def test_generations_are_numbered_by_the_freezes_also_by_those_that_say_no_number():
    assert generation({}) == 0
    assert generation(ledger(freeze(A), thaw("repair"), freeze(B))) == 2
    assert generation(ledger(freeze(A, 1), freeze(B, 2), freeze(C, 2))) == 2, "two branches made a second one"
    assert instruments(ledger(freeze(A), freeze(B))) == {"R1": B}
