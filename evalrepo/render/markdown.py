"""The verdict object as markdown for a pull request: the answer first, detail folded. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalrepo.records.verdict import CellResult, Label, Reason, Score, Verdict
from evalrepo.render.findings import counted
from evalrepo.render.inference import (
    HAND_HEADS,
    METRIC_HEADS,
    TEST_HEADS,
    USAGE_HEADS,
    falls,
    hand_rows,
    inference_lines,
    instrument_lines,
    looked_text,
    metric_rows,
    p_text,
    rates,
    test_rows,
    unset_lines,
    usage_rows,
)
from evalrepo.render.safe import fenced, md
from evalrepo.render.text import (
    KINDS,
    answer_text,
    label_text,
    probability,
    rate_row,
    score_text,
    side_name,
    suspects_line,
    validity_lines,
)


def verdict_markdown(verdict: Verdict) -> str:
    """The whole verdict."""
    blocks = [
        _title(verdict),
        *[_reason(reason) for reason in verdict.reasons],
        _rates(verdict),
        "\n".join(f"- {md(line)}" for line in inference_lines(verdict)),
        _cells(verdict, "Changed", [c for c in verdict.cells if c.label is not Label.SAME], fold=False),
        md(suspects_line(verdict)) + "." if verdict.validity.comparable else "",
        _cells(verdict, "Unchanged", [c for c in verdict.cells if c.label is Label.SAME], fold=True),
        _folded("Exact tests", _rows(TEST_HEADS, test_rows(verdict))),
        _folded("Metrics", _rows(METRIC_HEADS, metric_rows(verdict))),
        _folded("Metrics that fell", _rows(*falls(verdict))),
        _folded("Metrics that are unset", "\n".join(f"- {md(line)}" for line in unset_lines(verdict))),
        _folded("By hand", _rows(HAND_HEADS, hand_rows(verdict))),
        _folded("Usage", _rows(USAGE_HEADS, usage_rows(verdict))),
        _folded("Instrument changes", "\n".join(f"- {md(line)}" for line in instrument_lines(verdict))),
        _folded("Validity", "\n".join(f"- {md(line)}" for line in validity_lines(verdict))),
        _folded("Checks and axes that moved", _moved(verdict)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _title(verdict: Verdict) -> str:
    sides = f"{md(side_name(verdict.before))} → {md(side_name(verdict.after))}"
    return f"### evalrepo {verdict.question}: {md(answer_text(verdict))} · {sides} · exit {verdict.exit}"


def _reason(reason: Reason) -> str:
    head = KINDS.get(reason.kind, "")
    text = f"- **{head}** {md(reason.text)}" if head else f"- {md(reason.text)}"
    return f"{text}\n\n{_indented(fenced(reason.command, 'sh'))}" if reason.command else text


def _indented(block: str) -> str:
    return "\n".join(f"  {line}" for line in block.splitlines())


def _rates(verdict: Verdict) -> str:
    rows = [rate_row(rate) for rate in rates(verdict)]
    return _rows(("pass rate", "scenarios", "before", "", "after", "", "change"), rows)


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _table(heads, rows) if rows else ""


def _cells(verdict: Verdict, heading: str, cells: Sequence[CellResult], *, fold: bool) -> str:
    if not cells:
        return ""
    rows = [_row(cell, looked_text(verdict, cell)) for cell in cells]
    shown = _table(("cell", "before", "95 %", "after", "95 %", "", "P(worse)", "q", "why"), rows)
    title = f"{heading}: {len(cells)} of {counted(len(verdict.cells), 'cell')}"
    return _folded(title, shown) if fold else f"**{title}**\n\n{shown}"


def _row(cell: CellResult, looked: str) -> tuple[str, ...]:
    worse = "" if cell.p_worse is None else probability(cell.p_worse)
    name = f"{cell.name} ★" if cell.golden else cell.name
    before, after = cell.before, cell.after
    return (
        name,
        score_text(before),
        interval_text(before),
        score_text(after),
        interval_text(after),
        label_text(cell) + looked,
        worse,
        "" if cell.q is None else p_text(cell.q),
        cell.why,
    )


def interval_text(score: Score | None) -> str:
    """Wilson's interval in whole per cent."""
    if score is None or not score.valid:
        return ""
    return f"{score.interval[0] * 100:.0f}–{score.interval[1] * 100:.0f}"


def _moved(verdict: Verdict) -> str:
    rows = [
        (f"{moved.kind} {moved.name}", cell.name, str(moved.before), str(moved.after))
        for cell in verdict.cells
        for moved in cell.moved
    ]
    return _table(("failed in reps", "cell", "before", "after"), rows) if rows else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(md(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{md(title)}</summary>\n\n{content}\n\n</details>" if content else ""
