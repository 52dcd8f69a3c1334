"""How many reps `bisect` needs and how often it is right, by seeded simulation: the table of docs/bisect.md.

64 commits, one planted change: the scenario fails in 10 % of the reps before it and in 60 % since. For comparison a
search by halves that takes the majority of so many reps for the truth, as `git bisect run` does. Prints the table; exit
1 when a goal is missed: at 95 % the right commit in nine of ten histories, with a median of at most 80 reps.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from statistics import median

from evalrepo.comparing.bisect import believe, chosen, collapse, decided, placed, prior

COMMITS, BEFORE, SINCE, HISTORIES, MOST = 64, 0.10, 0.60, 50, 400
Fails = Callable[[int], bool]


def history(seed: int) -> tuple[int, Fails]:
    """The planted commit (0 is the newest), and one rep of a commit."""
    rng = random.Random(f"history {seed}")
    planted = rng.randrange(COMMITS - 1)
    return planted, lambda i: rng.random() < (SINCE if i <= planted else BEFORE)


def bayes(fails: Fails, step: int, recorded: int, every: int) -> tuple[int | None, int]:
    """The commit that is named, and reps run; `recorded` reps of each `every`-th commit are there before."""
    stands = collapse([(str(i), str(i), "") for i in range(COMMITS)])
    seen = {str(i): (sum(fails(i) for _ in range(recorded)), recorded) for i in range(0, COMMITS, every) if recorded}
    for ran in range(0, MOST, step):
        held = placed(stands, seen)
        belief = believe(held, prior(stands))
        if decided(belief) is not None:
            return decided(belief), ran
        i = chosen(stands, held, belief)
        assert i is not None
        old = seen.get(str(i), (0, 0))
        seen[str(i)] = (old[0] + sum(fails(i) for _ in range(step)), old[1] + step)
    return None, MOST


def halves(fails: Fails, step: int) -> tuple[int, int]:
    """By halves: a commit is bad when more than 35 % of its reps fail, which is the middle of both rates."""
    bad, good, ran = 0, COMMITS - 1, 0
    while good - bad > 1:
        middle = (bad + good) // 2
        ran += step
        if sum(fails(middle) for _ in range(step)) > 0.35 * step:
            bad = middle
        else:
            good = middle
    return bad, ran


WAYS: dict[str, Callable[[Fails], tuple[int | None, int]]] = {
    "`bisect --reps-per-step 1`": lambda fails: bayes(fails, 1, 0, 1),
    "`bisect` (3 reps a step)": lambda fails: bayes(fails, 3, 0, 1),
    "`bisect --reps-per-step 5`": lambda fails: bayes(fails, 5, 0, 1),
    "`bisect`, 3 recorded reps at every third commit": lambda fails: bayes(fails, 3, 3, 3),
    "by halves, 5 reps a step": lambda fails: halves(fails, 5),
    "by halves, 15 reps a step": lambda fails: halves(fails, 15),
}


def figures() -> Iterator[tuple[str, float, float, int]]:
    """Way, share named rightly, median and most of reps run."""
    for name, way in WAYS.items():
        right, ran = 0, []
        for seed in range(HISTORIES):
            planted, fails = history(seed)
            named, reps = way(fails)
            right += named == planted
            ran.append(reps)
        yield name, right / HISTORIES, median(ran), max(ran)


def main() -> int:
    """Print the table; 1 when a goal is missed."""
    print("| way | right commit | median reps | most reps |\n|---|---|---|---|")
    missed = False
    for name, right, middle, most in figures():
        print(f"| {name} | {right:.0%} | {middle:g} | {most} |", flush=True)
        missed |= name.startswith("`") and (right < 0.9 or middle > 80)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
