"""The commit that a gate compares with, by the policy or by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalrepo.errors import EvalrepoError, GitError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.repository.repo import Repository

LAST_TAG = "last-tag"
SHALLOW = "fetch the whole history: in CI fetch-depth: 0, here git fetch --unshallow --tags"


def baseline_of(repo: Repository, spec: str, *, named: bool) -> str | None:
    """The revision to compare with, a strict ancestor of HEAD; None for the first release."""
    if spec == LAST_TAG and not named:
        return last_tag(repo)
    base, head = repo.resolve(spec), repo.resolve("HEAD")
    if base == head or not repo.is_ancestor(base, head):
        raise UsageError(
            f"the baseline {spec} is not a strict ancestor of HEAD",
            hint="name an earlier commit of this history: evalrepo gate --baseline REV",
        )
    return spec


def last_tag(repo: Repository, *, own: bool = False) -> str | None:
    """The nearest tag behind HEAD; tags of HEAD itself count with `own` only."""
    mine = "" if own else repo.git("tag", "--points-at", "HEAD").decode("utf-8", "surrogateescape")
    excluded = [f"--exclude={_literal(tag)}" for tag in mine.split("\n") if tag]
    code, out, _ = repo.git.code("describe", "--tags", "--abbrev=0", *excluded, "HEAD")
    if code == 0:
        return out.decode("utf-8", "surrogateescape").removesuffix("\n")
    if repo.shallow:
        raise GitError("no earlier tag is at hand in this shallow clone", hint=SHALLOW)
    return None


def _literal(tag: str) -> str:
    return "".join(f"\\{c}" if c in "*?[\\" else c for c in tag)


def next_baseline(repo: Repository, here: Place) -> Place | None:
    """What the next gate will compare the work tree with: the policy's baseline, when a subject is another one there.

    None without one; `gate` says what is wrong with a baseline that cannot be read.
    """
    from evalrepo.commands.releases import groups_of
    from evalrepo.commands.sides import place, subject_of

    for name in _candidates(repo, here.config.gate.baseline):
        try:
            there = place(repo, name, lenient=True)
            if any(subject_of(there, g) not in (None, subject_of(here, g)) for g in groups_of(here)):
                return there
        except EvalrepoError:
            continue
    return None


def _candidates(repo: Repository, spec: str) -> Iterator[str]:
    """HEAD's own tag counts too: the work tree may have changed since."""
    if spec != LAST_TAG:
        yield spec
    elif repo.head() is not None and not repo.shallow:
        yield from (tag for own in (True, False) if (tag := last_tag(repo, own=own)))
