"""One system call that fails or kills, by strace: what the sweeps of the runner and of its recovery share."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

STRACE = shutil.which("strace")


@dataclass(frozen=True, slots=True)
class Fault:
    """`process` 0 is the run, k its k-th git; `n` counts calls of `call`; `what`: KILL or an errno."""

    process: int
    call: str
    n: int
    what: str

    def __str__(self) -> str:
        return f"{'run' if not self.process else f'git{self.process}'}-{self.call}-{self.n}-{self.what}"

    @property
    def inject(self) -> str:
        """strace's expression."""
        how = "signal=KILL" if self.what == "KILL" else f"error={self.what}"
        return f"{self.call}:{how}:when={self.n}"


def fired(work: Path) -> bool:
    """Whether the fault came."""
    log = work / "hit.log"
    return log.exists() and bool(re.search(r"INJECTED|killed by SIGKILL", log.read_text(errors="replace")))


def changes(call: str, rest: str) -> bool:
    """Whether a traced call (its name, and what follows the bracket) changes something."""
    if call == "openat":
        return "O_CREAT" in rest and "/dev/null" not in rest
    return call != "write" or not rest.startswith(("1,", "2,"))
