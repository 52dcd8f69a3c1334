"""One reference of a remote: read, fetched, moved by compare-and-swap. The only place where git may use the network.

git asks nothing at the terminal; how it logs in is the person's configuration (credential helpers, ssh agent,
`GIT_SSH_COMMAND`). Nothing is ever forced over what somebody else pushed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalrepo.repository.runner import failure

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git

PROTOCOLS = "file:git:http:https:ssh"
_PATIENT = ("-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=30", "-c", "fetch.fsckObjects=true")
_LOGIN = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_HTTP_USER_AGENT", "GIT_SSL_CAINFO")


class Remote:
    """A remote by its name in git's configuration. Every method raises GitError where it cannot be reached, or
    refuses."""

    def __init__(self, repo: Repository, name: str) -> None:
        self.name = name
        self._git = _networked(repo)

    def tip(self, ref: str) -> str | None:
        """Where the reference stands there; None when there is none."""
        out = self._asked(("ls-remote", "--", self.name, ref)).decode("utf-8", "replace")
        rows = (line.split("\t", 1) for line in out.splitlines() if "\t" in line)
        return next((oid for oid, name in rows if name == ref), None)

    def fetch(self, *refspecs: str) -> None:
        """Bring the objects, and move local references as the refspecs say; none is moved backwards without a `+`."""
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules")
        self._asked(("fetch", *options, "--", self.name, *refspecs))

    def push(self, ref: str, new: str, old: str | None) -> bool:
        """Move the reference from `old` (None: it must not exist) to `new`; False when it no longer stood at `old`."""
        lease = f"--force-with-lease={ref}:{old or ''}"
        args = ("push", "--quiet", "--porcelain", "--no-verify", lease, "--", self.name, f"{new}:{ref}")
        code, _, errors = self._git.code(*_PATIENT, *args)
        if code == 0 or self.tip(ref) == new:
            return True
        if self.tip(ref) != old:
            return False
        raise failure(("push",), code, errors)

    def _asked(self, args: Sequence[str]) -> bytes:
        code, out, errors = self._git.code(*_PATIENT, *args)
        if code:
            raise failure(tuple(args), code, errors)
        return out


def _networked(repo: Repository) -> Git:
    login = {name: repo.world.environ[name] for name in _LOGIN if name in repo.world.environ}
    configured = repo.git.code("config", "--get", "core.sshCommand")[1].strip()
    if not configured and not {"GIT_SSH_COMMAND", "GIT_SSH"} & login.keys():
        login["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=20"
    return repo.git.bound(None, GIT_ALLOW_PROTOCOL=PROTOCOLS, **login)
