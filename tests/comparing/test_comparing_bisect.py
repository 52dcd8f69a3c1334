"""Which commit it was: the worked numbers, laws, and simulated histories."""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.comparing.bisect import (
    Seen,
    Stand,
    believe,
    beside,
    chosen,
    collapse,
    decided,
    expected_entropy,
    next_commit,
    placed,
    prior,
)


def rounded(seen: Sequence[Seen]) -> tuple[float, ...]:
    return tuple(round(p, 4) for p in believe(seen).posterior)


@pytest.mark.parametrize(
    ("seen", "posterior"),
    [
        ([(3, 3), (2, 3), (0, 3), (0, 3)], (0.1231, 0.8350, 0.0301, 0.0117)),
        ([(2, 3), (1, 3), (0, 3), (0, 3)], (0.2953, 0.4770, 0.1136, 0.1141)),
        ([(3, 3), (0, 0), (0, 0), (0, 3)], (0.3279, 0.3279, 0.3279, 0.0164)),
    ],
)
def test_the_worked_posteriors_come_out(seen: list[Seen], posterior: tuple[float, ...]):
    assert rounded(seen) == posterior


def test_without_a_rep_every_commit_is_as_likely_and_the_middle_is_next():
    belief = believe([(0, 0)] * 9)
    assert belief.posterior == pytest.approx([1 / 9] * 9)
    assert next_commit(belief, [True] * 9) == 4
    assert next_commit(belief, [False] * 9) is None


def test_after_both_ends_the_next_commit_is_the_middle_one():
    seen = [(5, 5), *[(0, 0)] * 7, (0, 5)]
    assert next_commit(believe(seen), [True] * 9) in (3, 4)


def test_a_skipped_commit_has_no_posterior_and_a_range_of_them_is_refused():
    belief = believe([(3, 3), (0, 0), (0, 3)], (1.0, 0.0, 1.0))
    assert belief.posterior[1] == 0
    assert sum(belief.posterior) == pytest.approx(1)
    with pytest.raises(ValueError, match="no commit is left"):
        believe([(0, 0)] * 2, (0.0, 0.0))


counts = st.integers(0, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
histories = st.lists(counts, min_size=2, max_size=9)


def after(seen: list[Seen], i: int, fail: int) -> list[Seen]:
    return [*seen[:i], (seen[i][0] + fail, seen[i][1] + 1), *seen[i + 1 :]]


@given(histories)
@settings(max_examples=50, deadline=None)
def test_the_expected_entropy_is_that_of_asking_bayes_for_both_outcomes(seen: list[Seen]):
    belief = believe(seen)
    for i, quick in enumerate(expected_entropy(belief)):
        rates = [belief.new[b] if b >= i else belief.old[b] for b in range(len(seen))]
        p = sum(w * r for w, r in zip(belief.posterior, rates, strict=True))
        slow = p * believe(after(seen, i, 1)).entropy + (1 - p) * believe(after(seen, i, 0)).entropy
        assert quick / math.log(2) == pytest.approx(slow, abs=1e-9)


@given(histories)
@settings(max_examples=50, deadline=None)
def test_passes_and_fails_may_change_places(seen: list[Seen]):
    flipped = [(n - f, n) for f, n in seen]
    assert believe(seen).posterior == pytest.approx(believe(flipped).posterior)


@given(histories)
@settings(max_examples=50, deadline=None)
def test_a_rep_never_raises_the_expected_entropy(seen: list[Seen]):
    belief = believe(seen)
    now = belief.entropy * math.log(2)
    assert all(left <= now + 1e-9 for left in expected_entropy(belief))


def test_commits_that_leave_the_subject_as_it_was_are_one_stand_of_its_first_commit():
    stands = collapse([("f", "B", ""), ("e", "B", ""), ("d", "A", ""), ("c", "", "no guide"), ("b", "A", "")])
    assert [s.commits for s in stands] == [("f", "e"), ("d",), ("c",), ("b",)]
    assert stands[0].commit == "e"


def test_what_was_reverted_cannot_have_begun_it_and_its_reps_count_once():
    stands = collapse([(c, s, "") for c, s in zip("fedcb", "NABAO", strict=True)])
    assert prior(stands) == (1, 0, 0, 1, 1)
    assert placed(stands, {"A": (1, 3), "O": (0, 3)}) == ((0, 0), (1, 3), (0, 0), (0, 0), (0, 3))
    assert chosen(stands, placed(stands, {"N": (3, 3), "O": (0, 3)}), believe([(3, 3), *[(0, 0)] * 3, (0, 3)])) != 3


def test_the_ends_are_measured_before_anything_else():
    stands = collapse([(str(i), str(i), "") for i in range(9)])
    for seen, where in (({}, 0), ({"0": (3, 3)}, 8), ({"8": (0, 3)}, 0)):
        held = placed(stands, seen)
        assert chosen(stands, held, believe(held)) == where


def test_a_skipped_commit_beside_the_named_one_is_under_suspicion_too():
    stands = [Stand("a", ("a",)), Stand("b", ("b",), "skipped"), Stand("c", ("c",), "skipped"), Stand("d", ("d",))]
    assert beside(stands, 0) == (1, 2)
    assert beside(stands, 3) == ()


def play(size: int, fails: Callable[[int], bool], step: int, seen: dict[str, Seen]) -> tuple[int | None, int]:
    """Bisect as the command does, `fails` being one rep of a commit; what is named, and reps run."""
    stands = collapse([(str(i), str(i), "") for i in range(size)])
    ran = 0
    while ran < 400:
        held = placed(stands, seen)
        belief = believe(held, prior(stands))
        if decided(belief) is not None:
            return belief.best, ran
        i = chosen(stands, held, belief)
        assert i is not None
        f, n = seen.get(str(i), (0, 0))
        seen[str(i)] = (f + sum(fails(i) for _ in range(step)), n + step)
        ran += step
    return None, ran


def noisy(seed: int, size: int) -> tuple[int, Callable[[int], bool]]:
    """A planted commit, and reps that fail 60 % of the time since and 10 % before it."""
    rng = random.Random(seed)
    planted = rng.randrange(size - 1)
    return planted, lambda i: rng.random() < (0.6 if i <= planted else 0.1)


def simulated(step: int, recorded: int = 0) -> tuple[float, float]:
    """50 histories of 64 commits: share named rightly, median of reps run. `recorded` reps at every third commit."""
    right, ran = 0, []
    for seed in range(50):
        planted, fails = noisy(seed, 64)
        known = {str(i): (sum(fails(i) for _ in range(recorded)), recorded) for i in range(0, 64, 3) if recorded}
        named, reps = play(64, fails, step, known)
        right += named == planted
        ran.append(reps)
    return right / 50, median(ran)


@pytest.mark.parametrize("step", [1, 3])
def test_of_fifty_noisy_histories_nine_in_ten_are_solved_within_eighty_reps(step: int):
    right, reps = simulated(step)
    assert right >= 0.9
    assert reps <= 80


def test_the_figures_of_the_page_are_those_of_the_simulation(monkeypatch: pytest.MonkeyPatch):
    top = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(str(top / "benchmarks"))
    bisecting = importlib.import_module("bisecting")
    name = "by halves, 5 reps a step"
    kept = {n: way for n, way in bisecting.WAYS.items() if n in (name, "`bisect` (3 reps a step)")}
    monkeypatch.setattr(bisecting, "WAYS", kept)
    page = (top / "docs" / "bisect.md").read_text()
    for way, right, middle, most in bisecting.figures():
        assert f"| {way} | {right:.0%} | {middle:g} | {most} |" in page


def test_reps_that_were_recorded_before_make_it_markedly_shorter():
    right, reps = simulated(3, recorded=3)
    assert right >= 0.9
    assert reps <= 0.6 * simulated(3)[1]


@pytest.mark.parametrize("planted", range(15))
def test_a_change_without_noise_is_found_about_as_fast_as_by_git_bisect(planted: int):
    named, reps = play(16, lambda i: i <= planted, 1, {})
    assert named == planted
    assert reps <= 14


def test_a_good_commit_that_behaves_like_the_bad_one_becomes_the_likeliest_itself():
    seen: dict[str, Seen] = {}
    assert play(16, lambda _: True, 3, seen)[0] is None
    assert believe([seen.get(str(i), (0, 0)) for i in range(16)]).best == 15
