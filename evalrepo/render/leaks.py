"""What `leaks` says: where and how much, never what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evalrepo.errors import Finding, Place
from evalrepo.render.findings import counted


class Leaked(Protocol):
    """One leak."""

    @property
    def place(self) -> Place: ...
    @property
    def code(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def share(self) -> float: ...
    @property
    def row(self) -> int: ...
    @property
    def hash(self) -> str: ...
    @property
    def acknowledged(self) -> str: ...


class Looked(Protocol):
    """What was looked at, and what was found."""

    @property
    def leaks(self) -> Sequence[Leaked]: ...
    @property
    def files(self) -> int: ...
    @property
    def commits(self) -> int: ...
    @property
    def transcripts(self) -> int: ...
    @property
    def reserve(self) -> int: ...


_HINTS = {
    "LEK001": "take it out; once others saw it, the reserve is spent: write a new twin",
    "LEK002": "take it out, or say it in other words",
    "LEK003": "ask the same in other words: evalrepo thaw the reserve's file, or change its twin",
}


def leak_finding(leak: Leaked) -> Finding:
    """A leak as a finding; its hash makes an exception of it."""
    what = _what(leak)
    hint = f"{_HINTS[leak.code]}; an exception: evalrepo acknowledge {leak.hash} --why REASON"
    return Finding(leak.place, leak.code, what, hint)


def _what(leak: Leaked) -> str:
    if leak.code == "LEK001":
        return f"holds the tripwire of {leak.scenario}"
    kinds = " and ".join([", ".join(leak.kinds[:-1]), leak.kinds[-1]] if len(leak.kinds) > 1 else leak.kinds)
    much = f"{leak.share:.0%} of its eight-word runs, {counted(leak.row, 'word')} in a row"
    if leak.code == "LEK003":
        return f"asks what {leak.scenario} asks in the same words: {kinds} of it, {much}"
    return f"holds text of {leak.scenario}: {kinds}, {much}"


def leak_summary(report: Looked) -> str:
    """How much was looked at, and what came of it."""
    if not report.reserve:
        return "there is no reserve, so there is nothing to leak"
    parts = [counted(report.files, "file")]
    parts += [counted(report.commits, "commit message")] if report.commits else []
    parts += [counted(report.transcripts, "file") + " of transcripts"] if report.transcripts else []
    open_ = [leak for leak in report.leaks if not leak.acknowledged]
    excepted = len(report.leaks) - len(open_)
    said = f"{counted(len(open_), 'leak')} of" if open_ else "nothing of"
    more = f"; {counted(excepted, 'leak')} acknowledged" if excepted else ""
    hint = f"; evalrepo lint --explain {open_[0].code} says what one means" if open_ else ""
    return f"{said} {counted(report.reserve, 'reserve scenario')} in {', '.join(parts)}{more}{hint}"
