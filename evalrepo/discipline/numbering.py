"""Records at hand against what says that there are more of them: their clones' counts, and their runs' refs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evalrepo.errors import Finding, Place

RUNS = "refs/evalrepo/runs/"
STAYS = "if it has to be so: evalrepo acknowledge {path} --code {code} --why REASON"
"""What a person does about a finding that cannot be mended."""


class Fact(NamedTuple):
    """A record at hand: where it is, its blob; clone, number and the hashes that chain it (see `Record.previous`); its
    run, and the run that executed its reps; the folders of these in that run's ref; its UTC start."""

    path: str
    oid: str
    clone: str
    sequence: int
    previous: str
    sha256: str
    run: str
    executed: str
    folders: tuple[str, ...]
    start: str = ""


class Kept(NamedTuple):
    """A run's ref: blob id → file name of its records, the folders of its reps' files, whether its records were to be
    committed, whether its transcripts were pruned."""

    records: Mapping[str, str]
    folders: frozenset[str]
    committed: bool = True
    pruned: bool = False


class Given(NamedTuple):
    """Numbers that this clone gave to a run; `tree`: a git tree with the result files that bear them."""

    run: str
    first: int
    many: int
    tree: str


Elsewhere = Callable[[str, int], str]
"""Clone and number → where that record is which is not among those at hand, "" when nowhere."""


def counts(facts: Iterable[Fact], elsewhere: Elsewhere) -> Iterator[Finding]:
    """RUN001-RUN003: numbers that lack before a later one, numbers twice, records that name another one before them.

    A number that stands elsewhere is a warning that says where.
    """
    clones: dict[str, dict[int, Fact]] = {}
    for fact in facts:
        known = clones.setdefault(fact.clone, {}).setdefault(fact.sequence, fact)
        if known.sha256 != fact.sha256:
            said = f"is number {fact.sequence} of clone {fact.clone}, and so is {known.path}"
            yield Finding(Place(fact.path), "RUN002", said, "one of them was made up or changed: see git log of both")
    for clone, numbers in clones.items():
        last = 0
        for number, fact in sorted(numbers.items()):
            if number > last + 1:
                yield from _gap(fact, clone, range(last + 1, number), elsewhere)
            elif number > 1 and fact.previous != numbers[last].sha256:
                said = f"does not name {numbers[last].path}, number {last} of its clone, as the record before it"
                yield Finding(Place(fact.path), "RUN003", said, "restore both files from the commits that added them")
            last = number


def _gap(fact: Fact, clone: str, missing: range, elsewhere: Elsewhere) -> Iterator[Finding]:
    place = Place(fact.path)
    where = {number: elsewhere(clone, number) for number in missing}
    lost = [number for number in missing if not where[number]]
    if lost:
        said = f"{_numbers(lost)} of clone {clone}, before this record, {_are(lost)} in no branch and no run ref here"
        hint = "fetch or merge what holds them (evalrepo transcripts fetch, git fetch); " + STAYS.format(
            path=fact.path, code="RUN001"
        )
        yield Finding(place, "RUN001", said, hint)
    found = [number for number in missing if where[number]]
    if found:
        places = ", ".join(dict.fromkeys(where[number] for number in found))
        said = f"{_numbers(found)} of clone {clone}, before this record, {_are(found)} not here: {places}"
        yield Finding(place, "RUN001", said, "it counts when that is merged", warning=True)


def _numbers(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"number {numbers[0]}"
    whole = numbers[-1] - numbers[0] + 1 == len(numbers)
    return f"numbers {numbers[0]} to {numbers[-1]}" if whole else "numbers " + ", ".join(map(str, numbers))


def _are(numbers: Sequence[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def own_numbers(facts: Sequence[Fact], clone: str, given: Iterable[Given], elsewhere: Elsewhere) -> Iterator[Finding]:
    """RUN001 of numbers that this very clone gave to runs, and that no later record would show to be missing."""
    here = {fact.sequence for fact in facts if fact.clone == clone}
    newest = max(here, default=0)
    for one in given:
        numbers = range(one.first, one.first + one.many)
        lost = [n for n in numbers if n not in here and n > newest and not elsewhere(clone, n)]
        if lost:
            place = Place(RUNS + one.run)
            said = f"{_numbers(lost)} of this clone, given to this run, {_are(lost)} in no branch and no run ref here"
            hint = f"git archive {one.tree[:12]} | tar -x, then add and commit AgentsReport"
            yield Finding(place, "RUN001", said, hint)


def kept(
    trees: Sequence[Fact],
    everywhere: Sequence[Fact],
    refs: Mapping[str, Kept],
    own: str,
    elsewhere: Elsewhere,
) -> Iterator[Finding]:
    """RUN004-RUN007: records against the refs of their runs, both ways. `trees`: what is committed; `everywhere`: that
    and what the refs hold; `refs` by run; `own`: this clone's name."""
    committed = {fact.oid for fact in trees}
    for fact in trees:
        ref = refs.get(fact.run)
        if ref is not None and fact.oid not in ref.records and (ref.records or not ref.pruned):
            said = f"is not what run {fact.run} wrote: its ref does not hold this file"
            yield Finding(Place(fact.path), "RUN004", said, _restoring(fact, ref))
    yield from _without_ref(trees, refs, own)
    for fact in everywhere:
        ref = refs.get(fact.run)
        if fact.oid not in committed and ref is not None and fact.oid in ref.records and ref.committed:
            yield from _dropped(fact, ref, own, elsewhere)
    named: dict[str, set[str]] = {}
    for fact in everywhere:
        named.setdefault(fact.executed, set()).update(fact.folders)
    for run, ref in refs.items():
        for folder in sorted(ref.folders - named.get(run, set())):
            said = f"holds {folder}, and no record of run {run} has that rep"
            yield Finding(Place(RUNS + run), "RUN007", said, f"git ls-tree -r {RUNS}{run}; a rep is never left out")


def _restoring(fact: Fact, ref: Kept) -> str:
    name = fact.path.rpartition("/")[2]
    if name in ref.records.values():
        return f"git show {RUNS}{fact.run}:results/{name} > {fact.path}, then commit; a correction is a new record"
    return f"git rm {fact.path}; results are written by evalrepo run"


def _without_ref(trees: Sequence[Fact], refs: Mapping[str, Kept], own: str) -> Iterator[Finding]:
    lacking = [fact for fact in trees if fact.run not in refs]
    others = {fact.run: fact for fact in lacking if fact.clone != own}
    for fact in lacking:
        if fact.clone == own:
            said = f"this clone made it, and the ref of run {fact.run} is gone without a tombstone"
            fetched = f"evalrepo transcripts fetch --run {fact.run} where it was pushed; "
            hint = fetched + STAYS.format(path=fact.path, code="RUN006")
            yield Finding(Place(fact.path), "RUN006", said, hint)
    if others:
        first = min(others.values())
        runs = f"{len(others)} run{'s' * (len(others) != 1)}"
        said = (
            f"the ref{'s' * (len(others) != 1)} of {runs} of other clones {'are' if len(others) > 1 else 'is'} not here"
        )
        hint = "evalrepo transcripts fetch; without them nobody can judge these reps again here"
        yield Finding(Place(first.path), "RUN006", f"{said}, this record's among them", hint, warning=True)


def _dropped(fact: Fact, ref: Kept, own: str, elsewhere: Elsewhere) -> Iterator[Finding]:
    where = elsewhere(fact.clone, fact.sequence)
    if where:
        return
    name = ref.records[fact.oid]
    said = f"its record {name} is in no branch here"
    month = f"AgentsReport/evaluation/{name[:7]}"
    hint = f"mkdir -p {month} && git show {RUNS}{fact.run}:results/{name} > {month}/{name}, then add and commit it"
    yield Finding(Place(RUNS + fact.run), "RUN005", said, hint, warning=fact.clone != own)
