"""Which format a document has, by its content, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalrepo.errors import UsageError
from evalrepo.importing import prompt_set, results, scenario_list, scenario_table, skill_notes
from evalrepo.importing.found import Asked, Imported

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is known, how it is read, and what it is, in words."""

    fits: Callable[[str], bool]
    read: Callable[[str, Asked], Imported]
    about: str


FORMATS: dict[str, Format] = {
    prompt_set.FORMAT: Format(prompt_set.fits, prompt_set.read, "prompts and names of their checks, as JSON"),
    results.TSV: Format(results.fits_tsv, results.read_tsv, "verdicts of repetitions, tab-separated"),
    results.REPORT: Format(results.fits_report, results.read_report, "filled report templates"),
    scenario_list.FORMAT: Format(scenario_list.fits, scenario_list.read, "a list of scenarios, in markdown"),
    scenario_table.FORMAT: Format(scenario_table.fits, scenario_table.read, "a page with a table of scenarios"),
    skill_notes.FORMAT: Format(skill_notes.fits, skill_notes.read, "a page about a skill's prompt set"),
}
"""Name → format, in the order in which they are tried."""


def read(data: bytes, asked: Asked, wanted: str = "") -> Imported:
    """The document, in the format `wanted` or the first that fits. UsageError when it is in none of them."""
    text = _text(data, asked.source)
    if wanted:
        if not FORMATS[wanted].fits(text):
            about = FORMATS[wanted].about
            raise UsageError(f"{asked.source} is not {wanted} ({about})", hint="leave --format out to let it be found")
        return FORMATS[wanted].read(text, asked)
    for kind in FORMATS.values():
        if kind.fits(text):
            return kind.read(text, asked)
    known = "; ".join(f"{name}: {kind.about}" for name, kind in FORMATS.items())
    raise UsageError(f"{asked.source} is in none of the formats that can be imported", hint=known)


def _text(data: bytes, source: str) -> str:
    if len(data) > MOST_BYTES:
        raise UsageError(f"{source} has more than {MOST_BYTES:,} bytes", hint="import a part of it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{source}:{at}: the file is not UTF-8", hint="save it as UTF-8") from None
    return text.replace("\r\n", "\n")
