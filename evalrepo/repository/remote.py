"""References of a remote: read, fetched, moved by compare-and-swap. The only place where git may use the network.

git asks nothing at the terminal; how it logs in is the person's configuration (credential helpers, ssh agent,
`GIT_SSH_COMMAND`). Nothing is ever forced over what somebody else pushed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalrepo.repository.runner import failure

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git

PROTOCOLS = "file:git:http:https:ssh"
_PATIENT = ("-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=30", "-c", "fetch.fsckObjects=true")
_LOGIN = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_HTTP_USER_AGENT", "GIT_SSL_CAINFO")


class Move(NamedTuple):
    """A reference of a remote that is to move from `old` (None: it must not exist) to `new`."""

    ref: str
    new: str
    old: str | None


def remotes(repo: Repository) -> list[str]:
    """The names of the remotes that git is configured with."""
    return repo.git("remote").decode("utf-8", "surrogateescape").splitlines()


class Remote:
    """A remote by its name in git's configuration. Every method raises GitError where it cannot be reached, or
    refuses."""

    def __init__(self, repo: Repository, name: str) -> None:
        self.name = name
        self._git = _networked(repo)

    def tip(self, ref: str) -> str | None:
        """Where the reference stands there; None when there is none."""
        out = self._asked(("ls-remote", "--", self.name, ref)).decode("utf-8", "replace")
        return _listed(out).get(ref)

    def refs(self, prefix: str) -> dict[str, str]:
        """Reference → object id of all below a prefix that ends in `/`, in its order."""
        out = self._asked(("ls-remote", "--refs", "--", self.name, f"{prefix}*")).decode("utf-8", "replace")
        return {name: oid for name, oid in _listed(out).items() if name.startswith(prefix)}

    def fetch(self, *refspecs: str) -> None:
        """Bring the objects, and move local references as the refspecs say; none is moved backwards without a `+`,
        and none that only the configured refspecs name."""
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules")
        exact = ("--refmap=", "--no-prune", "--no-filter")
        self._asked(("fetch", *options, *exact, "--", self.name, *refspecs))

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

    def push_all(self, moves: Sequence[Move]) -> dict[str, str]:
        """Make all these moves that the remote takes, in one transfer; reference → why, of those that it refused."""
        leases = [f"--force-with-lease={move.ref}:{move.old or ''}" for move in moves]
        specs = [f"{move.new}:{move.ref}" for move in moves]
        args = ("push", "--porcelain", "--no-verify", *leases, "--", self.name, *specs)
        code, out, errors = self._git.code(*_PATIENT, *args)
        rows = [line.split("\t") for line in out.decode("utf-8", "replace").splitlines() if line.count("\t") == 2]
        if code and not rows:
            raise failure(("push",), code, errors)
        return {spec.partition(":")[2]: why for flag, spec, why in rows if flag == "!"}

    def _asked(self, args: Sequence[str]) -> bytes:
        code, out, errors = self._git.code(*_PATIENT, *args)
        if code:
            raise failure(tuple(args), code, errors)
        return out


def _listed(out: str) -> dict[str, str]:
    rows = (line.split("\t", 1) for line in out.splitlines() if "\t" in line)
    return {name: oid for oid, name in rows}


def _networked(repo: Repository) -> Git:
    login = {name: repo.world.environ[name] for name in _LOGIN if name in repo.world.environ}
    configured = repo.git.code("config", "--get", "core.sshCommand")[1].strip()
    if not configured and not {"GIT_SSH_COMMAND", "GIT_SSH"} & login.keys():
        login["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=20"
    return repo.git.bound(None, GIT_ALLOW_PROTOCOL=PROTOCOLS, **login)
