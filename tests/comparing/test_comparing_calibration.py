"""A judge decides where it answers as people do, on enough reps of both kinds; otherwise it is advisory."""

from __future__ import annotations

import pytest

from evalrepo.comparing.calibration import by_people, calibrated
from evalrepo.records.calibration import Calibration, Disagreement, Rule
from evalrepo.render.calibration import share_text


def rated(yes_yes: int, yes_no: int, no_yes: int, no_no: int, rule: Rule | None = None) -> Calibration:
    """People's and the judge's answers, in these numbers: people first."""
    kinds = [("yes", "yes")] * yes_yes + [("yes", "no")] * yes_no + [("no", "yes")] * no_yes + [("no", "no")] * no_no
    people = {f"t{n}": [said] for n, (said, _) in enumerate(kinds)}
    judge = {f"t{n}": voted for n, (_, voted) in enumerate(kinds)}
    return calibrated("flagged", ("yes", "no"), people, judge, rule or Rule())


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ((28, 2, 2, 28), ""),
        ((24, 1, 0, 24), "49 of 50 labelled reps"),
        ((45, 2, 0, 3), "only 3 of 10 reps outside the commonest class"),
        ((20, 5, 10, 15), "κ 0.40 is below 0.6"),
        ((25, 25, 5, 5), "κ 0.00 is below 0.6"),
    ],
)
def test_a_judge_decides_only_where_it_is_shown_to_agree(counts: tuple[int, int, int, int], why: str) -> None:
    found = rated(*counts)
    assert found.why == why
    assert found.decides == (not why)


def test_the_numbers_beside_each_other_are_those_of_the_worked_table() -> None:
    found = rated(20, 5, 10, 15)
    assert found.matrix == ((20, 5), (10, 15))
    assert found.n == 50
    assert found.agreement[0] == pytest.approx(0.7)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.4)
    assert found.ac1 is not None
    assert found.ac1.value == pytest.approx(0.4059, abs=5e-5)
    assert len(found.disagreements) == 15
    assert found.disagreements[0] == Disagreement("t20", "yes", "no")


def test_no_answer_of_the_judge_and_no_agreement_of_people_are_counted_and_not_guessed() -> None:
    people = {"a": ["yes"], "b": ["yes", "no"], "c": ["no", "no", "yes"], "d": ["no"]}
    found = calibrated("flagged", ("yes", "no"), people, {"a": "yes", "b": "yes", "c": ""}, Rule())
    assert (found.n, found.unanswered, found.unsettled, found.unasked) == (1, 1, 1, 1)


def test_near_misses_on_a_scale_count_less_than_far_ones() -> None:
    people = {f"t{n}": [str(n % 4)] for n in range(80)}
    near = {t: str(min(3, int(said[0]) + (n % 5 == 0))) for n, (t, said) in enumerate(people.items())}
    far = {t: str(3 - int(said[0])) if n % 5 == 0 else said[0] for n, (t, said) in enumerate(people.items())}
    scale = ("0", "1", "2", "3")
    one = calibrated("M1", scale, people, near, Rule(), ordinal=True)
    other = calibrated("M1", scale, people, far, Rule(), ordinal=True)
    assert one.kappa is not None
    assert other.kappa is not None
    assert one.kappa.value > 0.9 > other.kappa.value
    assert one.decides
    assert one.weighted


def test_a_judges_rate_is_corrected_by_its_errors_on_the_labels() -> None:
    found = by_people(rated(27, 3, 6, 24), {"yes": 70, "no": 30})
    assert found is not None
    assert (found.answer, found.given, found.of) == ("yes", 70, 100)
    assert found.share == pytest.approx(0.714286, abs=5e-7)
    assert found.low < 0.6 < 0.714 < found.high
    (text,) = share_text(found)
    assert text.startswith("in runs it says yes in 70 of 100 reps (70%); by people that is 71% (")


TOO_LITTLE = {
    "few labels": ((20, 2, 2, 20), {"yes": 7, "no": 3}),
    "no better than chance": ((15, 15, 15, 15), {"yes": 7}),
    "labels of one kind": ((50, 9, 0, 0), {"yes": 7}),
    "no answer in runs": ((27, 3, 6, 24), {}),
}


@pytest.mark.parametrize("name", TOO_LITTLE)
def test_a_rate_is_not_corrected_where_the_labels_do_not_tell(name: str) -> None:
    counts, answered = TOO_LITTLE[name]
    assert by_people(rated(*counts), answered) is None
