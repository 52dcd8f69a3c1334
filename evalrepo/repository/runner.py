"""The only place that starts git: one hardened process a call, nothing inherited that could turn it elsewhere.

What a repository's own configuration could execute (fsmonitor, hooks, pagers, external diffs, transports, signature
checks) is switched off on the command line, which wins over every file. Clean filters run in the work-tree read only.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalrepo.errors import GitError

SETTINGS: dict[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.fsync": "loose-object,reference,index",
    "core.deltaBaseCacheLimit": "256m",
    "diff.external": "",
    "diff.orderFile": "/dev/null",
    "log.showSignature": "false",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
    "protocol.ext.allow": "never",
}
"""git settings of every call. `core.fsync`: without it a power cut empties loose objects and references."""

FIXED: dict[str, str] = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": "/dev/null/none",
}
"""Environment of every call: no prompt, no lock for a read, no network, no replaced or grafted history."""

KEPT = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_ATTR_NOSYSTEM",
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)
"""`GIT_*` that say where a person's configuration is; every other one is scrubbed."""

HOOK = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH",
        "GIT_SHALLOW_FILE",
    }
)
"""`GIT_*` that git hands to a hook, for the hook's own read."""

_HINTS: tuple[tuple[str, str], ...] = (
    ("dubious ownership", "if you trust it: git config --global --add safe.directory PATH"),
    (".lock': File exists", "another git process is at work; try again when it has ended"),
    ("No space left", "free some disk space"),
    ("Permission denied", "look at who owns the files of the git directory"),
    ("Read-only file system", "the git directory must be writable"),
)


def scrubbed(environ: Mapping[str, str], *, hook: bool = False) -> dict[str, str]:
    """The environment for git: every `GIT_*` out but the kept ones, and ours in."""
    keep = KEPT | HOOK if hook else KEPT
    env = {k: v for k, v in environ.items() if not k.startswith("GIT_") or k in keep}
    env.pop("LANGUAGE", None)
    return env | FIXED


class Git:
    """One hardened git in one directory. `extra` is environment for all its calls, above everything else."""

    def __init__(
        self,
        directory: Path,
        environ: Mapping[str, str],
        *,
        hook: bool = False,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.env: dict[str, str] = {**scrubbed(environ, hook=hook), **(extra or {})}
        self.locale = environ.get("LC_ALL", "")
        self._argv = ["git", "--no-replace-objects", *(a for k, v in SETTINGS.items() for a in ("-c", f"{k}={v}"))]

    def bound(self, directory: Path | None = None, **extra: str) -> Git:
        """The same git with more environment, or in another directory."""
        other = object.__new__(Git)
        other.directory = directory or self.directory
        other.env = {**self.env, **extra}
        other.locale = self.locale
        other._argv = self._argv
        return other

    def __call__(self, *args: str, stdin: bytes | None = None, extra: Mapping[str, str] | None = None) -> bytes:
        """What the command prints. GitError with git's own sentence when it fails."""
        code, out, errors = self.code(*args, stdin=stdin, extra=extra)
        if code:
            raise failure(args, code, errors)
        return out

    def line(self, *args: str) -> str:
        """What the command prints, as text without the newline at its end."""
        return os.fsdecode(self(*args)).removesuffix("\n")

    def code(
        self, *args: str, stdin: bytes | None = None, extra: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error, whatever they are."""
        env = {**self.env, **extra} if extra else self.env
        argv = [*self._argv, *args]
        try:
            done = subprocess.run(
                argv, cwd=self.directory, env=env, input=stdin or b"", capture_output=True, check=False
            )
        except (OSError, ValueError) as error:
            raise _not_started(error, self.directory) from None
        return done.returncode, done.stdout, done.stderr

    def start(self, *args: str, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        """Begin a command between open files, given as descriptors; whoever begins it waits for it."""
        argv = [*self._argv, *args]
        try:
            return subprocess.Popen(argv, cwd=self.directory, env=self.env, stdin=stdin, stdout=stdout, stderr=stderr)
        except (OSError, ValueError) as error:
            raise _not_started(error, self.directory) from None

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Blob id and content, in the order given (give tree order: git's delta cache likes it). GitError when missing.

        Memory does not grow with the number of blobs, see `contents`.
        """
        from evalrepo.repository.contents import contents

        for data, spans in contents(self, oids):
            for oid, start, end in spans:
                yield oid, data[start:end]

    def sizes(self, oids: Iterable[str]) -> dict[str, int | None]:
        """Object id → bytes of its content, None when it is not there (or its file is broken)."""
        asked = list(dict.fromkeys(oids))
        if not asked:
            return {}
        feed = "\n".join((*asked, "")).encode("ascii")
        out = self("cat-file", "--batch-check=%(objectsize)", "--buffer", stdin=feed)
        lines = out.decode("ascii").splitlines()
        return {oid: int(line) if line.isdigit() else None for oid, line in zip(asked, lines, strict=True)}


def _not_started(error: OSError | ValueError, directory: Path) -> GitError:
    if isinstance(error, FileNotFoundError) and directory.is_dir():
        return GitError("git is not installed, or not on PATH", hint="install git 2.36 or newer")
    if isinstance(error, OSError):
        return GitError(f"git could not be started in {directory}: {error.strerror}")
    return GitError(f"git cannot be asked that: {error}", hint="a name cannot hold a NUL or a lone surrogate")


def failure(args: tuple[str, ...], code: int, errors: bytes) -> GitError:
    """The error for a git command that failed, in git's own words."""
    text = errors.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))] or text.splitlines()[:1]
    reason = "; ".join(dict.fromkeys(_plain(line) for line in lines[:3])) or _ended(code)
    hint = next((hint for sign, hint in _HINTS if sign in text), "")
    return GitError(f"git {args[0]}: {reason}", hint=hint)


def _ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by signal {-code}"


def _plain(line: str) -> str:
    told = line.removeprefix("fatal: ").removeprefix("error: ").strip()
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in told)
