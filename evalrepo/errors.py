"""The error tree, the exit codes, and findings: what is said to the person at the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class Exit(IntEnum):
    """The one table of exit codes; `evalrepo --help` prints it."""

    YES = 0
    NO = 1
    CANNOT = 2
    INCONCLUSIVE = 3
    INVALID = 4
    BUG = 70
    INTERRUPTED = 130


EXIT_MEANING: dict[Exit, str] = {
    Exit.YES: "yes",
    Exit.NO: "no: a finding, a cell below its bar, a blocked gate",
    Exit.CANNOT: "cannot answer: usage, data that cannot be used, git",
    Exit.INCONCLUSIVE: "inconclusive",
    Exit.INVALID: "invalid: the harness failed too often to say",
    Exit.BUG: "a bug in evalrepo",
    Exit.INTERRUPTED: "interrupted",
}


class Place(NamedTuple):
    """Where something is: a path inside the repository, 1-based line and column when known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


class Finding(NamedTuple):
    """One thing that is wrong in the data: place, code of `CODES`, sentence, and what to do next."""

    place: Place
    code: str
    message: str
    hint: str = ""
    warning: bool = False

    def __str__(self) -> str:
        kind = "warning: " if self.warning else ""
        head = f"{self.place}: {self.code} {kind}{self.message}".replace("\n", "\\n")
        return f"{head}\n  hint: {self.hint}" if self.hint else head


class EvalrepoError(Exception):
    """Base of all errors that a person can do something about.

    `str(error)` is the sentence; `hint` the next step; `exit` the process's exit code.
    """

    exit = Exit.CANNOT

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(EvalrepoError):
    """The command line asks for something that does not exist or does not fit together."""


class GitError(EvalrepoError):
    """git could not answer: no repository, an unknown revision, a lock held by somebody else."""


class DataError(EvalrepoError):
    """Files of the repository cannot be used; carries every finding."""

    def __init__(self, findings: Sequence[Finding], message: str = "", *, hint: str = "") -> None:
        count = len(findings)
        super().__init__(message or f"{count} finding{'s' if count != 1 else ''} in the repository's files", hint=hint)
        self.findings = tuple(sorted(findings))


class HarnessError(EvalrepoError):
    """The machine lacks what a run needs: an agent, isolation, disk, a writable git directory."""


class InvalidError(EvalrepoError):
    """The question has no valid answer: frozen files changed, degenerate suite."""

    exit = Exit.INVALID


class Interrupted(EvalrepoError):  # noqa: N818 - it is a request, not a fault
    """The person pressed Ctrl-C (or SIGTERM came); what had finished is kept."""

    exit = Exit.INTERRUPTED
