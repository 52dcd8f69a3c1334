"""The subject of another commit under today's stimulus and instrument, for `run --at`, `run --against` and bisect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError
from evalrepo.records.record import Purpose
from evalrepo.repository.composed import Composed
from evalrepo.repository.digests import MISSING, subject_part
from evalrepo.running.plan import Plan, Skipped
from evalrepo.store import load

if TYPE_CHECKING:
    from evalrepo.records.config import Config, Subject
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.session import Session
    from evalrepo.store import Loaded


def at(session: Session, rev: str, purpose: Purpose = Purpose.MEASURE) -> Session:
    """The session with the subjects of REV, as REV's own config names and installs them; all else as it was.

    Its records name REV's commit, clean, and count for REV's content. A subject that REV does not have has no files
    there; `lacking` names it. GitError for an unknown revision, DataError when REV's config cannot be used.
    """
    repo = session.repo
    there = repo.tree(rev)
    tree, loaded = composed(repo, session.tree, session.loaded, there)
    return replace(session, tree=tree, loaded=loaded, at=there.commit or "", at_name=rev, purpose=purpose)


def composed(repo: Repository, here: Tree, loaded: Loaded, there: Tree) -> tuple[Tree, Loaded]:
    """`here` with the subjects of `there`: the tree, and what it holds."""
    past = subjects_of(repo, there)
    now = loaded.config.subjects
    known = {name: past[name] for name in now if name in past}
    replaces = dict.fromkeys(p for s in (*now.values(), *known.values()) for p in s.paths)
    takes = dict.fromkeys(p for s in known.values() for p in s.paths)
    subjects = {name: _as_there(subject, known.get(name)) for name, subject in now.items()}
    config = loaded.config.model_copy(update={"subjects": subjects})
    return Composed(here, there, replaces=replaces, takes=takes), replace(loaded, config=config)


def _as_there(now: Subject, past: Subject | None) -> Subject:
    """Today's subject with the files and the installation that it had; who runs it and its defaults are today's."""
    return now if past is None else now.model_copy(update={"paths": past.paths, "install": past.install})


def subjects_of(repo: Repository, tree: Tree) -> dict[str, Subject]:
    """The subjects that a tree's own config names, {} when it has none. DataError when it cannot be used."""
    if CONFIG not in tree.under(CONFIG):
        return {}
    found = load(tree, repo, only=())
    wrong = [f for f in found.findings if f.place.file == CONFIG and not f.warning]
    if wrong:
        raise DataError(wrong, f"{CONFIG} at {tree.name} cannot be used", hint="name another commit")
    return dict(found.config.subjects)


def lacking(tree: Tree, config: Config) -> frozenset[str]:
    """The subjects that have no files in a tree."""
    return frozenset(n for n, s in config.subjects.items() if subject_part(tree, n, s)[1]["paths"] == MISSING)


def present(made: Plan, session: Session) -> Plan:
    """The plan without cells whose subject the session's commit does not have; they are skipped, with the reason."""
    gone = lacking(session.tree, session.loaded.config)
    if not gone:
        return made
    kept, skipped = [], list(made.skipped)
    for cell in made.cells:
        missing = [name for name in cell.header.subjects if name in gone]
        if missing:
            why = f"{session.at_name or 'this tree'} has no subject {missing[0]}"
            skipped.append(Skipped(*cell.header.cell, why))
        else:
            kept.append(cell)
    return Plan(tuple(kept), tuple(skipped))
