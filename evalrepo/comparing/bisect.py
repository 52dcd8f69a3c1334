"""Which commit changed the behaviour: Bayes' rule over commits whose reps are noisy. Pure.

The model of hauntsaninja/git_bayesect. Commits are numbered from the newest (0, the bad one) to the oldest (the good
one); `b` is the last of them with the new behaviour, which began with it. Two unknown rates of failing, one up to `b`
and one beyond, each with Jeffreys' Beta(½, ½) prior, are integrated out. `b` at the oldest commit means that nothing
changed in this range: the good commit behaves like the bad one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

STOP = 0.95
"""The posterior at which one commit is named."""

TIED = 1e-9
"""Expected entropies (nats) that differ by less are the same."""

Seen = tuple[int, int]
"""Reps of one commit that failed, and its valid reps."""


@dataclass(frozen=True, slots=True)
class Belief:
    """Posterior of each commit, and the rates of failing that are expected up to it and beyond it."""

    posterior: tuple[float, ...]
    new: tuple[float, ...]
    old: tuple[float, ...]

    @property
    def best(self) -> int:
        """The likeliest commit; of several the newest."""
        return max(range(len(self.posterior)), key=lambda b: (self.posterior[b], -b))

    @property
    def entropy(self) -> float:
        """In bits."""
        return -sum(p * math.log2(p) for p in self.posterior if p > 0)


def believe(seen: Sequence[Seen], prior: Sequence[float] | None = None) -> Belief:
    """The posterior over the last commit with the new behaviour, newest first. `prior` (default: even) need not sum to
    one; a commit that was skipped has 0. ValueError when no commit is left."""
    weights = [1.0] * len(seen) if prior is None else list(prior)
    if len(weights) != len(seen) or not any(w > 0 for w in weights):
        raise ValueError("no commit is left that could have changed the behaviour")
    fails = list(accumulate(f for f, _ in seen))
    reps = list(accumulate(n for _, n in seen))
    up_to = list(zip(fails, reps, strict=True))
    beyond = [(fails[-1] - f, reps[-1] - n) for f, n in up_to]
    logs = [
        math.log(w) + _evidence(*a) + _evidence(*b) if w > 0 else -math.inf
        for w, a, b in zip(weights, up_to, beyond, strict=True)
    ]
    top = max(logs)
    raw = [math.exp(value - top) for value in logs]
    total = sum(raw)
    return Belief(tuple(r / total for r in raw), tuple(_rate(*a) for a in up_to), tuple(_rate(*b) for b in beyond))


def _evidence(fails: int, reps: int) -> float:
    """Log of the probability of these reps in their order, the rate integrated out: ln B(½+y, ½+n-y) - ln B(½, ½)."""
    return math.lgamma(0.5 + fails) + math.lgamma(0.5 + reps - fails) - math.lgamma(1.0 + reps) - math.log(math.pi)


def _rate(fails: int, reps: int) -> float:
    return (0.5 + fails) / (1.0 + reps)


def expected_entropy(belief: Belief) -> tuple[float, ...]:
    """For each commit the entropy (nats) that is to be expected after one more rep of it."""
    fail = _after(belief, belief.new, belief.old)
    passed = _after(belief, [1 - r for r in belief.new], [1 - r for r in belief.old])
    return tuple(a + b for a, b in zip(fail, passed, strict=True))


def _after(belief: Belief, new: Sequence[float], old: Sequence[float]) -> list[float]:
    """For each commit P(this outcome there) times the entropy after it: Z ln Z - Σ u ln u, u = posterior x P(outcome).
    Commit i has the new rate under every b >= i: two running sums answer for all commits at once."""
    up = [p * r for p, r in zip(belief.posterior, new, strict=True)]
    down = [p * r for p, r in zip(belief.posterior, old, strict=True)]
    beyond = _totals(up[::-1])[::-1]
    before = _totals(down)
    found = []
    for i in range(len(up)):
        mass = beyond[i][0] + before[i - 1][0] if i else beyond[i][0]
        inner = beyond[i][1] + before[i - 1][1] if i else beyond[i][1]
        found.append(_x_log_x(mass) - inner)
    return found


def _totals(values: Sequence[float]) -> list[tuple[float, float]]:
    """Running sums of x and of x ln x."""
    return list(zip(accumulate(values), accumulate(_x_log_x(v) for v in values), strict=True))


def _x_log_x(x: float) -> float:
    return x * math.log(x) if x > 0 else 0.0


def next_commit(belief: Belief, open_: Sequence[bool]) -> int | None:
    """The commit whose next rep is expected to leave the least entropy; of several the middle one. `open_` says which
    can be measured; None when none can."""
    choice = [i for i, can in enumerate(open_) if can]
    if not choice:
        return None
    left = expected_entropy(belief)
    least = min(left[i] for i in choice)
    tied = [i for i in choice if left[i] <= least + TIED]
    return tied[len(tied) // 2]


@dataclass(frozen=True, slots=True)
class Stand:
    """A subject as it stood over consecutive commits, newest first; the last of them brought it. `subject` is its
    digest; `why` says why it cannot be measured, "" when it can."""

    subject: str
    commits: tuple[str, ...]
    why: str = ""

    @property
    def commit(self) -> str:
        """The commit that brought this subject."""
        return self.commits[-1]


def collapse(commits: Iterable[tuple[str, str, str]]) -> tuple[Stand, ...]:
    """(commit, subject digest, why it cannot be measured), newest first → one stand for commits that leave the subject
    as it was. Commits without a subject (digest "") stay apart."""
    stands: list[Stand] = []
    for commit, subject, why in commits:
        last = stands[-1] if stands else None
        if last is not None and subject and (last.subject, last.why) == (subject, why):
            stands[-1] = Stand(subject, (*last.commits, commit), why)
        else:
            stands.append(Stand(subject, (commit,), why))
    return tuple(stands)


def prior(stands: Sequence[Stand]) -> tuple[float, ...]:
    """Even over what can have begun the behaviour. 0 for a stand that cannot be measured, and for one between two
    places of the same content (a change that was reverted): content does not change its behaviour."""
    weights = [0.0 if stand.why else 1.0 for stand in stands]
    newest: dict[str, int] = {}
    for i, stand in enumerate(stands):
        first = newest.setdefault(stand.subject, i) if stand.subject else i
        weights[first:i] = [0.0] * (i - first)
    return tuple(weights)


def placed(stands: Sequence[Stand], seen: Mapping[str, Seen]) -> tuple[Seen, ...]:
    """What was seen of each content (subject digest → fails, reps), each rep at one place only: its newest."""
    left = dict(seen)
    return tuple(left.pop(stand.subject, (0, 0)) for stand in stands)


def decided(belief: Belief, stop: float = STOP) -> int | None:
    """The commit that the posterior names, None while it does not."""
    return belief.best if belief.posterior[belief.best] >= stop else None


def chosen(stands: Sequence[Stand], seen: Sequence[Seen], belief: Belief) -> int | None:
    """Where the next reps go: the ends as long as one has none, for they carry the question; then `next_commit`.
    None when nothing can be measured."""
    newest = _newest(stands)
    open_ = [not stand.why and newest[stand.subject] == i for i, stand in enumerate(stands)]
    ends = [i for i in (0, newest[stands[-1].subject]) if open_[i] and not seen[i][1]]
    return ends[0] if ends else next_commit(belief, open_)


def _newest(stands: Sequence[Stand]) -> dict[str, int]:
    return {stand.subject: i for i, stand in reversed(list(enumerate(stands)))}


def beside(stands: Sequence[Stand], index: int) -> tuple[int, ...]:
    """Stands just older than this one that cannot be measured: the behaviour may have begun with them as well."""
    found = []
    for i in range(index + 1, len(stands) - 1):
        if not stands[i].why:
            break
        found.append(i)
    return tuple(found)
