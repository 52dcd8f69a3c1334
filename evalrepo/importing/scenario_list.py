"""A list of scenarios in markdown: a heading and fields for each, a table of metrics, a template for reports.

A scenario is a heading `ID — Title` with `**Fixture:**`, `**Prompt:**`, `**Expect:**` and `**Watch for:**` below it.
Metrics are rows `M1 name | what 0 means | what 3 means`. Items that name scenarios say which to run when.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import count

from evalrepo.importing import writing
from evalrepo.importing.found import Asked, Imported, Left, NewFile
from evalrepo.importing.markdown import Block, Page, page

FORMAT = "scenario-list"

Metrics = dict[str, tuple[str, dict[str, str]]]
"""Metric → its name, and score → what earns it."""

_HEAD = re.compile(r"([A-Z]{1,3}\d{1,4}[A-Z]?)\s*(?:[—–:-]+\s*)(.+)")
_METRIC = re.compile(r"([A-Z]\d{1,2})\s+(.+)")
_WHOLE = re.compile(r"[\"“](.+)[\"”]()")
_QUOTED = re.compile(r"[\"“](.+?)[\"”](.*)")
_TAGGED = re.compile(r"(?:or\s+)?(.+?\([A-Z]\d+(?:\s*/\s*[A-Z]\d+)*\))\s*(?:[,;.]\s*|$|(?=\bor\b))")
_STAND_IN = re.compile(r"…|\.\.\.|<[^>]+>|\bX\b|`(?:foo|bar|baz)`")
_FIXTURE = "a work tree is made by hand: put it below fixtures/NAME and name it, `fixture: NAME`"


@dataclass
class _Draft:
    """A scenario as it is collected."""

    id: str
    title: str
    line: int
    prompts: list[tuple[str, str]] = field(default_factory=list)
    fixture: str = ""
    expect: list[str] = field(default_factory=list)
    watch_for: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def leave(self, block: Block, text: str, why: str) -> None:
        """Something of the block has no place."""
        self.left.append(Left(block.line, f"{self.id}: {text}", why, block.section))


def fits(text: str) -> bool:
    """Whether the document is one."""
    return any(_sections(page(text)))


def read(text: str, asked: Asked) -> Imported:
    """Scenario files, a rubric of the metrics, and which scenarios to run when as lines for evalrepo.yaml."""
    found = page(text)
    drafts, twice = _drafts(found)
    metrics = _metrics(found)
    template = _template(found, metrics)
    subject = asked.subject or _subject(found)
    files = [_file(draft, metrics, subject, asked, info=template) for draft in drafts]
    if metrics:
        files.append(_rubric(found, metrics, subject))
    config = _config(found, [draft.id for draft in drafts])
    left = [*found.left(), *twice, *(one for draft in drafts for one in draft.left)]
    return Imported(FORMAT, tuple(files), tuple(sorted(left)), _filled(drafts, metrics), config=config)


def _sections(found: Page) -> list[tuple[Block, list[Block]]]:
    """Headings of scenarios with the fields below each, where there is a prompt among them."""
    sections: list[tuple[Block, list[Block]]] = []
    inside = False
    for block in found.blocks:
        if block.kind == "heading":
            inside = _HEAD.fullmatch(block.text) is not None
            sections += [(block, [])] if inside else []
        elif inside and block.kind == "field":
            sections[-1][1].append(block)
    return [(head, fields) for head, fields in sections if any(f.label == "Prompt" for f in fields)]


def _drafts(found: Page) -> tuple[list[_Draft], list[Left]]:
    drafts: dict[str, _Draft] = {}
    twice = []
    for head, fields in _sections(found):
        match = _HEAD.fullmatch(head.text)
        assert match is not None
        if match[1].lower() in drafts:
            twice.append(Left(head.line, head.text, "a second scenario of this id", head.section))
            continue
        draft = drafts[match[1].lower()] = _Draft(match[1], match[2], head.line)
        found.take(head)
        for block in fields:
            if _take(draft, block):
                found.take(block)
    return list(drafts.values()), twice


def _take(draft: _Draft, block: Block) -> bool:
    """Whether the field has a place."""
    match block.label:
        case "Prompt":
            _prompt(draft, block)
        case "Fixture":
            draft.fixture = block.text
            draft.leave(block, block.text, _FIXTURE)
        case "Expect":
            draft.expect.append(block.text)
        case "Watch for":
            draft.watch_for += _tagged(block.text)
        case _:
            return False
    return True


def _prompt(draft: _Draft, block: Block) -> None:
    quoted = _WHOLE.fullmatch(block.text) or _QUOTED.fullmatch(block.text)
    prompt, rest = (quoted[1], quoted[2].strip()) if quoted else (block.text, "")
    later = "resume" in block.note.lower()
    draft.prompts.append((prompt, "fresh" if later and draft.prompts else ""))
    if rest.strip(" ."):
        draft.leave(block, rest, "stands behind the prompt: it says what the fixture is like")
    if later and len(draft.prompts) == 1:
        why = "the turn before it is not in the document: write it first, with `stop_after`, and `session: fresh` here"
        draft.leave(block, f"({block.note}) {prompt}", why)
    if _STAND_IN.search(prompt):
        draft.leave(block, prompt, "seems to stand for something: write what the fixture has")


def _tagged(text: str) -> list[str]:
    """The text as parts that each end with the metrics they belong to, `(M2)`; whole where it has other parts."""
    parts = [match[1].strip() for match in _TAGGED.finditer(text)]
    return parts if re.sub(r"\W|\bor\b", "", _TAGGED.sub("", text)) == "" and parts else [text]


def _metrics(found: Page) -> Metrics:
    """From the first table of such rows."""
    for head, rows in found.tables():
        scores = {at: match[0] for at, cell in enumerate(head.cells) if (match := re.match(r"[0-3]\b", cell))}
        named = [(row, match) for row in rows if (match := _METRIC.fullmatch(row.cells[0]))]
        if scores and len(named) == len(rows):
            found.take(head)
            return _anchored(found, named, scores)
    return {}


def _anchored(found: Page, named: Sequence[tuple[Block, re.Match[str]]], scores: dict[int, str]) -> Metrics:
    metrics: Metrics = {}
    for row, match in named:
        if match[1] not in metrics:
            anchors = {score: row.cells[at] for at, score in scores.items() if at < len(row.cells)}
            metrics[match[1]] = (match[2], anchors)
            found.take(row)
    return metrics


def _template(found: Page, metrics: Metrics) -> tuple[str, ...]:
    """What a report's template asks for that a record holds by itself: words of `info`."""
    for block in found.blocks:
        if block.kind == "fence" and re.search(r"(?m)^Scenario:", block.text):
            asked = set(re.findall(r"(?m)^([A-Z]\d{1,2}) ", block.text))
            if asked <= set(metrics):
                found.take(block)
            kept = {"agents": "Agents dispatched", "tool_calls": "Tool calls"}
            return tuple(word for word, line in kept.items() if line in block.text)
    return ()


def _subject(found: Page) -> str:
    title = next((b for b in found.blocks if b.kind == "heading" and b.level == 1), None)
    if title is None:
        return "subject"
    words = re.sub(r"(?i)\b(evaluations?|evals?|scenarios?|for|of|the)\b", " ", title.text)
    return writing.name(words) or "subject"


def _file(
    draft: _Draft,
    metrics: Metrics,
    subject: str,
    asked: Asked,
    info: tuple[str, ...],
) -> NewFile:
    slug = writing.name(draft.title)
    ident = f"{draft.id}-{slug}" if slug else draft.id
    text = writing.comment(f"{draft.id} of {asked.source}, line {draft.line}.")
    text += writing.entry("title", draft.title) + writing.entry("subject", subject)
    text += writing.comment(f"fixture: {draft.fixture}") if draft.fixture else ""
    text += writing.prompts(draft.prompts)
    text += writing.items("expect", draft.expect) + writing.items("watch_for", draft.watch_for)
    text += writing.entries("metrics", dict.fromkeys(metrics, "human"))
    text += f"info: [{', '.join(info)}]\n" if info else ""
    text += writing.comment(
        "checks: what must hold of the transcript or the outcome; conformance: scripts that prove it"
    )
    return NewFile(f"scenarios/{ident}.yaml", text, (ident,))


def _rubric(found: Page, metrics: Metrics, subject: str) -> NewFile:
    """The metrics' anchors, and below them what the document says about scoring."""
    text = "---\n" + writing.entry("title", f"Metrics of {subject}") + "metrics:\n"
    for key, (ask, scale) in metrics.items():
        text += f"  {key}:\n" + writing.entry("ask", ask, "    ") + writing.entries("scale", scale, "    ")
    said = [b for b in found.blocks if b.kind in ("text", "item") and b.section == "Metrics"]
    found.take(*said)
    return NewFile(f"rubrics/{subject}.md", f"{text}---\n" + "\n\n".join(b.text for b in said) + "\n")


def _config(found: Page, ids: Sequence[str]) -> str:
    """Suites of the items that say which scenarios to run, and what a fallen metric does."""
    suites: dict[str, Sequence[str]] = {}
    drop = ""
    for block in found.blocks:
        if block.kind not in ("item", "text"):
            continue
        named = [one for one in dict.fromkeys(re.findall(r"\b[A-Z]{1,3}\d{1,4}[A-Z]?\b", block.text)) if one in ids]
        every = re.search(r"\brun all\b", block.text) is not None
        if len(named) > 1 or every:
            suites[_suite(block.text, suites)] = ids if every else named
            found.take(block)
        elif re.search(r"(?i)regression in any metric.*investigat", block.text):
            drop = "gate: {metrics: {drop: investigate}}\n"
            found.take(block)
    lines = [f"  {name}: {{scenarios: [{', '.join(chosen)}]}}\n" for name, chosen in suites.items()]
    return ("suites:\n" + "".join(lines) if lines else "") + drop


def _suite(text: str, taken: Container[str]) -> str:
    words = text.lower()
    name = next((word for word in ("release", "change") if word in words), "suite")
    return name if name not in taken else next(f"{name}-{n}" for n in count(2) if f"{name}-{n}" not in taken)


def _filled(drafts: Sequence[_Draft], metrics: Metrics) -> dict[str, int]:
    return {
        "title": len(drafts),
        "turns": len(drafts),
        "expect": sum(bool(draft.expect) for draft in drafts),
        "watch_for": sum(bool(draft.watch_for) for draft in drafts),
        "metrics": len(drafts) if metrics else 0,
    }
