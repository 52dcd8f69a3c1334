"""A look at the reserve, for `run --reserve`: which subject's, whether it may be taken, spent before its first rep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalrepo.errors import DataError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.run import Options
    from evalrepo.discipline.looks import Budget, Look
    from evalrepo.running.plan import Plan
    from evalrepo.running.session import Session
    from evalrepo.store import Loaded

WHOLE = "a look is one campaign on a subject's whole reserve, at the reps of evalrepo.yaml"
REFUSED = {
    "since": "--since chooses from the run-set",
    "suite": "suites are of the run-set",
    "reps": "no rep is added to a look",
    "fresh": "no rep is added to a look",
    "at": "a look is at what is here",
    "against": "a look is at what is here",
    "canary": "the reserve has no canary: nobody may look at its transcripts",
}
"""Options that a look has no part in → why."""


@dataclass(frozen=True)
class Campaign:
    """A look that is asked for: the subject's reserve, what was spent before, and which look it is."""

    look: Look
    budget: Budget
    masked: bool
    why: str

    @property
    def number(self) -> int:
        """From 1."""
        return self.budget.number(self.look)

    @property
    def taken(self) -> Look | None:
        """The same look, when it was taken before."""
        return self.budget.taken(self.look)

    @property
    def told(self) -> str:
        """What every report that rests on it says."""
        from evalrepo.records.looks import look_text

        known = set(self.budget.opened)
        seen = [f"somebody unsealed {', '.join(sorted(known))} before"] if known else []
        said = look_text(self.number, self.budget.allowed, masked=self.masked)
        return "; ".join([f"reserve of {self.look.subject}: {said}", *seen, *self.budget.remarks])

    @property
    def open(self) -> bool:
        """Whether its event has to be written: it was not taken, or the ledger lost it."""
        return self.taken is None or bool(self.taken.lost)


def refuse_options(options: Options) -> None:
    """UsageError for what does not go with --reserve, or only with it."""
    if not options.reserve:
        if options.why or options.allow_unmasked:
            raise UsageError("--why and --allow-unmasked are for a look at the reserve", hint="add --reserve")
        return
    for name, why in REFUSED.items():
        if getattr(options, name):
            raise UsageError(f"--{name} does not go with --reserve: {why}", hint=WHOLE)
    if not options.commit:
        raise UsageError("--no-commit does not go with --reserve: a look is spent, and everybody sees it", hint=WHOLE)
    if not options.why and not options.dry_run:
        raise UsageError("a look at the reserve needs a reason", hint='--why "what is to be decided by it"')


def chosen(loaded: Loaded, words: Sequence[str]) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The subject that words mean (a subject, or scenarios of its reserve), and its whole reserve → why. UsageError."""
    from evalrepo.store import select_ids

    reserve = loaded.of_set("reserve")
    having = list(dict.fromkeys(name for one in reserve.values() for name in one.scenario.subject))
    if not having:
        raise UsageError("there is no reserve to look at", hint="evalrepo new ID-reserve --reserve-of ID writes a twin")
    subjects = [word for word in words if word in having]
    named = [word for word in words if word not in having]
    for id_ in select_ids(loaded, named, reserve=True) if named else ():
        subjects += reserve[id_].scenario.subject
    found = list(dict.fromkeys(subjects or having))
    if len(found) > 1:
        hint = " or ".join(f"evalrepo run --reserve {name}" for name in found)
        raise UsageError("a look is at one subject's reserve, and these have one each: " + ", ".join(found), hint=hint)
    (subject,) = found
    why = (f"the reserve of {subject}",)
    return subject, {id_: why for id_, one in reserve.items() if subject in one.scenario.subject}


def campaign(session: Session, subject: str, made: Plan, options: Options) -> Campaign:
    """The look that this plan would be, beside those that were taken."""
    from evalrepo.commands.known_looks import known
    from evalrepo.discipline.looks import Look, digest_of
    from evalrepo.repository.digests import subject_part

    config = session.loaded.config
    heads = [cell.header for cell in made.cells]
    twins = {head.scenario: head.digests.stimulus for head in heads}
    whole = digest_of({head.scenario: head.digests.stimulus + head.digests.instrument for head in heads})
    cells = tuple(sorted({f"{head.agent}/{head.tier}" for head in heads}))
    digest = subject_part(session.tree, subject, config.subjects[subject])[0]
    now = {name: session.loaded.scenarios[name].scenario for name in twins}
    spent = known(session.repo, session.loaded).budget(session.repo, subject, twins, now, config.reserve.looks)
    look = Look(subject, digest, whole, cells, twins)
    return Campaign(look, spent, session.isolation.level != "none", options.why or "")


def allowed(session: Session, asked: Campaign, ids: Iterable[str], options: Options) -> None:
    """UsageError where the look may not be taken: something thawed or not frozen, no isolation, no look left."""
    from evalrepo.store.frozen import verify

    found = verify(session.repo)
    wrong = [finding for finding in found.findings if not finding.warning]
    if wrong:
        raise DataError(wrong, "frozen files are not as locked, so the reserve is not looked at")
    if found.thawed:
        raise UsageError(
            f"{', '.join(found.thawed)} is thawed, and until the next freeze the reserve is not measured",
            hint="evalrepo freeze, git commit",
        )
    _frozen(session, ids)
    if not asked.masked and not options.allow_unmasked:
        raise UsageError(
            f"the agent could read the reserve: isolation is {session.isolation.level} ({session.isolation.why})",
            hint="install bubblewrap; --allow-unmasked takes the look all the same, as a budgeted comparison",
        )
    if asked.taken is None and not asked.budget.left:
        said = "; ".join([exhausted(asked.budget, asked.look.twins), *asked.budget.remarks])
        raise UsageError(said, hint=rotate(asked.budget, asked.look.twins))


def _frozen(session: Session, ids: Iterable[str]) -> None:
    from evalrepo.discipline.places import covered
    from evalrepo.store import lock

    held = lock(session.tree)
    lines = held.by_path() if held is not None else {}
    roots = frozenset(held.roots) if held is not None else frozenset()
    for id_ in ids:
        path = session.loaded.scenarios[id_].path
        if path not in lines or not covered(roots, path):
            raise UsageError(f"{path} is not frozen", hint="git add it, evalrepo freeze, git commit")


def exhausted(budget: Budget, twins: Mapping[str, str]) -> str:
    """The sentence that no look is left."""
    from evalrepo.render.findings import counted

    count = len(budget.spent)
    reserve = f"at the reserve of {budget.subject} ({counted(len(twins), 'scenario')})"
    said = f"the only look {reserve} is spent" if count == 1 else f"all {count} looks {reserve} are spent"
    return f"RESERVE EXHAUSTED: {said}"


def rotate(budget: Budget, twins: Iterable[str]) -> str:
    """How twins are rotated, as commands."""
    from evalrepo.discipline.looks import rotation

    return "write new twins, every one of them:\n    " + "\n    ".join(rotation(budget.subject, twins))


def spend(session: Session, asked: Campaign) -> str:
    """Commit the look's event; the commit. Before the first rep, so that no crash and no Ctrl-C gives it back.

    Of a look that was taken before, and whose event no branch has any more, this is the event again.
    """
    from evalrepo.store.ledger import commit, signed

    look = asked.look
    event = signed(
        session.repo,
        "look",
        asked.why,
        subject=look.subject,
        digest=look.digest,
        reserve=look.reserve,
        cells=look.cells,
        twins=tuple(f"{name} {digest}" for name, digest in sorted(look.twins.items())),
    )
    number, of = asked.number, asked.budget.allowed
    return commit(session.repo, event, f"evalrepo: look {number} of {of} at the reserve of {look.subject}")


def for_look(session: Session, asked: Campaign) -> Session:
    """The same session, its reps those of this look."""
    from evalrepo.records.record import Purpose

    return replace(session, purpose=Purpose.LOOK, look=(asked.number, asked.budget.allowed))
