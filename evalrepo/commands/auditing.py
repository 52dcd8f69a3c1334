"""No discards, no re-rolls: results against their own past, their clones' counts and the refs of their runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from evalrepo.commands.recorded import facts, facts_of, given, own_clone, refs
from evalrepo.discipline import numbering
from evalrepo.discipline.places import CONFIG, LEDGER
from evalrepo.discipline.told import Told, acknowledged
from evalrepo.errors import EvalrepoError, Finding, GitError, Place
from evalrepo.store.fastrange import AUDIT, AUDITED, REFS, ages, audit_key

if TYPE_CHECKING:
    from evalrepo.discipline.numbering import Fact
    from evalrepo.discipline.since import Stated
    from evalrepo.repository.repo import Repository

SHORT = 9


def audited(repo: Repository, since: str | None, head: str = "HEAD") -> list[Told]:
    """Everything that is wrong with the results at `head`, and with what the commits since `since` (None: all of them)
    did to results; each with the event of the ledger at `head` that acknowledges it. GitError for unknown revisions.
    """
    from evalrepo.store.results_past import past

    at = repo.resolve(head)
    base = repo.resolve(since) if since is not None else None
    return with_events(repo, at, [*past(repo, base, at), *present(repo, at)])


def note(repo: Repository) -> list[str]:
    """A sentence for `status` about results that are not as they were written or are left out, none for none."""
    from evalrepo.render.findings import counted

    head = repo.head()
    wrong = [one.finding for one in with_events(repo, head, present(repo, head)) if one.wrong] if head else []
    if not wrong:
        return []
    first = wrong[0]
    return [f"{counted(len(wrong), 'finding')} about results, {first.code} at {first.place}: evalrepo verify --records"]


def stated(repo: Repository, since: str | None, head: str) -> tuple[Stated, ...]:
    """The same as `verify --since` shows its findings."""
    from evalrepo.discipline.since import Stated

    out = []
    for one in audited(repo, since, head):
        finding = one.finding
        if one.event:
            finding = finding._replace(message=f"{finding.message}; acknowledged in {one.event}", hint="", warning=True)
        out.append(Stated(one._replace(finding=finding)))
    return tuple(out)


def with_events(repo: Repository, head: str, found: Iterable[Told]) -> list[Told]:
    """The findings in order, those that the ledger at `head` (a full id) acknowledges with their event."""
    told = sorted(set(found))
    if not told or not repo.git("ls-tree", "--full-tree", head, "--", LEDGER):
        return told
    from evalrepo.store.loading import read_events

    events, _ = read_events(repo.tree(head))
    return acknowledged(told, events)


def present(repo: Repository, head: str) -> list[Told]:
    """What is so now: counts with gaps, records that their runs' refs do not hold, reps without a record."""
    from evalrepo.store.cache import Cache

    elsewhere = Elsewhere(repo, head)
    if any(
        (repo.home / "journal").glob("*.jsonl")
    ):  # of runs that live or died: they change without a trace in the key
        return [*map(Told, _state(repo, head, elsewhere))]
    key, cache = _key(repo, head), Cache(repo.home, *AUDIT)
    known = cache.get([key]).get(key)
    if known is not None:
        return [Told(Finding(Place(*place), *rest)) for place, *rest in json.loads(known)]
    found = list(_state(repo, head, elsewhere))
    if not elsewhere.asked:
        cache.put({key: json.dumps(found)})
    return [*map(Told, found)]


def _key(repo: Repository, head: str) -> str:
    listing = repo.git("ls-tree", "-z", "--full-tree", head, "--", *AUDITED)
    config = repo.git.code("cat-file", "blob", f"{head}:{CONFIG}")[1]
    ours = repo.git(*REFS, "refs/evalrepo/")
    return audit_key(listing, ours, repo.home, repo.world.timestamp()[:13] if ages(config) else "")


def _state(repo: Repository, head: str, elsewhere: Elsewhere) -> Iterator[Finding]:
    from evalrepo.results import rows

    committed = facts(repo, rows(repo, [repo.tree(head)], refs=False))
    seen = {fact.oid for fact in committed}
    kept = refs(repo)
    everywhere = [*committed, *(fact for fact in facts(repo, rows(repo, [])) if fact.oid not in seen)]
    own = own_clone(repo)
    yield from numbering.counts(everywhere, elsewhere)
    yield from numbering.own_numbers(everywhere, own, given(repo), elsewhere) if own else ()
    yield from numbering.kept(committed, everywhere, kept, own, elsewhere)
    yield from _dead(repo)
    yield from _claims(repo, head, everywhere, kept)


def _claims(repo: Repository, head: str, everywhere: Sequence[Fact], kept: Iterable[str]) -> Iterator[Finding]:
    """Claims as they are known here, where the house rules at `head` ask for them. No network is used."""
    from evalrepo.discipline import claims
    from evalrepo.running.journal import journals

    remote = claims_remote(repo, head)
    tip = repo.refs(claims.REF).get(claims.REF)
    if remote is None:
        return
    if tip is None:
        hint = f"git fetch {remote} {claims.REF}:{claims.REF}; evalrepo gate does it by itself"
        yield Finding(Place(CONFIG), "RUN009", f"the claims at {remote} are not here", hint, warning=True)
        return
    tree = repo.tree(tip)
    names = {entry.oid: name for name, entry in tree.children().items()}
    held = claims.read({names[oid]: data for oid, data in repo.git.blobs(names)})
    at_work = [path.stem for path in journals(repo.home)]
    yield from claims.judged(held, everywhere, kept, at_work, repo.world.now())


def claims_remote(repo: Repository, *commits: str) -> str | None:
    """Where runs are claimed by the first of these commits whose `evalrepo.yaml` says so."""
    for commit in commits:
        code, text, _ = repo.git.code("cat-file", "blob", f"{commit}:{CONFIG}")
        if code or b"claims" not in text:
            continue
        from evalrepo.formats.yaml import config_file

        with contextlib.suppress(EvalrepoError):
            if found := config_file(text, CONFIG).discipline.claims:
                return found
    return None


def _dead(repo: Repository) -> Iterator[Finding]:
    """A warning for each run that died here with reps that no record has yet."""
    from evalrepo.running.recover import dead_runs

    for dead in dead_runs(repo):
        if dead.started or dead.problem:
            what = dead.problem or f"run {dead.run} died, and no record has the {dead.started} reps that it started yet"
            hint = "the next evalrepo run records them; a journal is never removed by hand"
            yield Finding(Place(f"{numbering.RUNS}{dead.run}"), "RUN007", what, hint, warning=True)


class Elsewhere:
    """Where a record is that is not among those at hand; looked for when the first one is asked for."""

    def __init__(self, repo: Repository, head: str) -> None:
        self._repo = repo
        self._head = head
        self.asked = False

    def __call__(self, clone: str, number: int) -> str:
        self.asked = True
        return self._known.get((clone, number), "")

    @cached_property
    def _known(self) -> dict[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = {}
        for where, some in (*self._unfinished(), *self._branches(), *self._removed()):
            for clone, number in some:
                found.setdefault((clone, number), where)
        return found

    def _unfinished(self) -> Iterator[tuple[str, Sequence[tuple[str, int]]]]:
        """Numbers of runs of this clone whose landing is not done."""
        from evalrepo.running.journal import journals

        runs = {path.stem for path in journals(self._repo.home)}
        clone = own_clone(self._repo)
        for one in given(self._repo):
            if one.run in runs:
                numbers = range(one.first, one.first + one.many)
                yield f"run {one.run}, whose results are about to land", [(clone, n) for n in numbers]

    def _branches(self) -> Iterator[tuple[str, Sequence[tuple[str, int]]]]:
        """Branches and tags that are not merged."""
        from evalrepo.results import rows

        form = "--format=%(refname) %(objectname) %(*objectname)"
        kinds = ("refs/heads", "refs/remotes", "refs/tags", "refs/stash")
        out = self._repo.git("for-each-ref", f"--no-merged={self._head}", form, *kinds).decode("utf-8", "replace")
        named = [(words[0], words[-1]) for words in map(str.split, out.splitlines())]
        for commit in dict.fromkeys(commit for _, commit in named):
            name = next(name for name, at in named if at == commit)
            with contextlib.suppress(EvalrepoError):
                yield name, _numbers(facts(self._repo, rows(self._repo, [self._repo.tree(commit)], refs=False)))

    def _removed(self) -> Iterator[tuple[str, Sequence[tuple[str, int]]]]:
        """Files that a commit of this history removed or changed: findings of their own, where that happened."""
        from evalrepo.discipline.results_history import is_written
        from evalrepo.store.results_past import walk

        for change in walk(self._repo.git, self._head, "--diff-filter=DMT"):
            if change.old and is_written(change.path):
                with contextlib.suppress(GitError):
                    there = list(facts_of(self._repo, self._repo.git, {change.old: change.path}))
                    yield f"commit {change.commit[:SHORT]} took it away", _numbers(there)


def _numbers(found: Iterable[Fact]) -> list[tuple[str, int]]:
    return [(fact.clone, fact.sequence) for fact in found]


def show(repo: Repository, since: str | None, head: str, form: str) -> int:
    """Print the audit; its exit code."""
    import click

    from evalrepo.errors import Exit
    from evalrepo.render.audit import audit_json, audit_text

    told = audited(repo, since, head)
    wrong = any(one.wrong for one in told)
    if form == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "intact": not wrong, "findings": audit_json(told)}), nl=False)
    else:
        click.echo(audit_text(told, "no result was edited, removed, made up or left out"))
    return Exit.NO if wrong else Exit.YES
