"""References, who commits, and moving a reference without losing anybody's work."""

from __future__ import annotations

import os
from collections.abc import Mapping

from evalrepo.errors import GitError
from evalrepo.repository.runner import Git, failure


class LostRace(GitError):  # noqa: N818 - it says what happened
    """The reference no longer stands where it stood: somebody else moved it. Read again, then try again."""


def symbolic(git: Git, ref: str) -> str | None:
    """What a symbolic reference points to, None when it is none."""
    code, out, _ = git.code("symbolic-ref", "--quiet", ref)
    return os.fsdecode(out).removesuffix("\n") if code == 0 else None


def listed(git: Git, prefix: str) -> dict[str, str]:
    """Reference → object id, annotated tags peeled, sorted by name."""
    out = os.fsdecode(git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "--", prefix))
    found: dict[str, str] = {}
    for line in out.splitlines():
        name, oid, *peeled = line.split(" ")
        found[name] = (peeled[0] if peeled else "") or oid
    return found


def default_branch(git: Git) -> str | None:
    """What the remote calls its HEAD, else init.defaultBranch, main, master: the first that exists."""
    remote = symbolic(git, "refs/remotes/origin/HEAD")
    configured = os.fsdecode(git.code("config", "--get", "init.defaultBranch")[1]).removesuffix("\n")
    names = [remote.removeprefix("refs/remotes/origin/") if remote else "", configured, "main", "master"]
    there = listed(git, "refs/heads/") | listed(git, "refs/remotes/origin/")
    places = [f"{base}{name}" for name in names if name for base in ("refs/heads/", "refs/remotes/origin/")]
    return next((ref for ref in places if ref in there), None)


def identity(git: Git, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Author's name and address from the environment or the configuration, None when one of them is not set."""
    name = _setting(git, environ, "NAME")
    email = _setting(git, environ, "EMAIL")
    return (name, email) if name and email else None


def _setting(git: Git, environ: Mapping[str, str], what: str) -> str:
    if value := environ.get(f"GIT_AUTHOR_{what}", "").strip():
        return value
    for section in ("author", "user"):
        code, out, _ = git.code("config", "--get", f"{section}.{what.lower()}")
        if code == 0 and out.strip():
            return out.decode("utf-8", "replace").strip()
    return ""


def move(git: Git, ref: str, new: str, old: str, message: str) -> None:
    """Compare and swap; `old` of zeros means that it must not exist."""
    exact = ("--no-deref",) if ref == "HEAD" else ()
    code, _, errors = git.code("update-ref", *exact, "-m", message, "--", ref, new, old)
    if not code:
        return
    error = failure(("update-ref",), code, errors)
    text = errors.decode("utf-8", "replace")
    if any(sign in text for sign in (" but expected ", "reference already exists", "unable to resolve reference")):
        raise LostRace(f"{ref} was moved by somebody else: {error.message}", hint="try again")
    raise error
