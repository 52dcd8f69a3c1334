"""What was made of a document, and what was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FIELDS = ("title", "cluster", "polarity", "env", "fixture", "turns", "expect", "watch_for", "metrics", "checks",
          "conformance", "twin")  # fmt: skip
"""Fields of a scenario that the count of an import shows, in the order of a file."""


@dataclass(frozen=True, slots=True, order=True)
class Left:
    """A piece of the document that no file holds: its 1-based line, its words, why, and the heading above it."""

    line: int
    text: str
    why: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be written. `scenarios`: ids in it."""

    path: str
    text: str
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """A document, read.

    `filled`: field → number of scenarios that have it. `counted`: scenarios that the document says there are, where it
    holds none of them. `results`: rows or reports that became results. `config`: lines for evalrepo.yaml, which is
    never written.
    """

    format: str
    files: tuple[NewFile, ...] = ()
    left: tuple[Left, ...] = ()
    filled: Mapping[str, int] = field(default_factory=dict)
    counted: int = 0
    results: int = 0
    config: str = ""

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Ids of the scenarios found."""
        return tuple(name for file in self.files for name in file.scenarios)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person says beside the document: `source` is the name to cite, `subject` what is under test ("" as the
    document calls it), `date` (YYYY-MM-DD) when results were measured, "" when nobody says."""

    source: str
    subject: str = ""
    date: str = ""
