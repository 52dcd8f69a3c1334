"""Score cards: what people write is read, and what cannot be read is said with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrepo.formats.scorecard import STATUSES, Card, Mark, dump, parse

FILLED = """\
Some words before it.

```text
Scenario: S1
Run: 8kq2v7xa
Rep: 2
By: Ann
Status: COMPLETE
M1 success:          2   evidence: work/README.md line 12
                         says height now
M2 unnecessary work: –   evidence:
M3 repeated actions: 0-3   evidence:
# M6 cost/context:   3 (mechanical)
Agents dispatched:   none
Tool calls approx:   4
Notes / weaknesses observed: it never
looked again

and was quick
```

Scenario: S4
Status: COMPLETE | PARTIAL | BLOCKED
M1 success: 0-3 evidence:
"""


def test_a_filled_card_is_read_with_scores_evidence_and_notes() -> None:
    cards, findings = parse(FILLED, "card.txt")
    assert findings == []
    first, second = cards
    assert (first.scenario, first.run, first.rep, first.by, first.status) == ("S1", "8kq2v7xa", 2, "Ann", "COMPLETE")
    assert first.marks == {
        "M1": Mark(2, "work/README.md line 12 says height now", 9),
        "M2": Mark(None, "", 11),
        "M3": Mark(None, "", 12),
    }
    assert (first.agents, first.calls) == ("none", "4")
    assert first.notes == "it never\nlooked again\n\nand was quick"
    assert first.filled
    assert (second.scenario, second.status, second.filled, second.line) == ("S4", None, False, 22)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("M1 success: 4 evidence: all of it", "SCO001", "'4' is no score"),
        ("M1 success: 2.5 evidence: half", "SCO001", "'2.5' is no score"),
        ("M1 success: good evidence: half", "SCO001", "'good' is no score"),
        ("M1 success: 3", "SCO002", "M1 has a score and no evidence"),
        ("M1 success: 3 evidence:", "SCO002", "M1 has a score and no evidence"),
        ("Rep: two", "SCO001", "'two' is no number of a rep"),
        ("Status: DONE", "SCO001", "'DONE' is no status"),
        ("By: Ann\nBy: Bob", "SCO004", "says By a second time"),
        ("M1: 1 evidence: x\nM1: 3 evidence: y", "SCO004", "scores M1 a second time"),
        ("it went well", "SCO003", "means nothing on a score card: it went well"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(line: str, code: str, words: str) -> None:
    _, findings = parse(f"Scenario: S1\n{line}\n", "card.txt")
    assert [f.code for f in findings] == [code]
    assert words in findings[0].message
    assert findings[0].place == ("card.txt", 2 + line.count("\n"), 1)
    assert findings[0].hint


def test_an_empty_card_asks_for_everything_and_shows_what_is_known() -> None:
    card = Card(
        "S1",
        "8kq2v7xa",
        "opencode/small",
        1,
        marks={"M1": Mark(None), "M6": Mark(None, given="3 (mechanical)"), "M7": Mark(None)},
        agents="builder",
    )
    text = dump([card], {"M1": "success", "M6": "cost/context"})
    assert text == (
        "Scenario: S1\nRun: 8kq2v7xa\nCell: opencode/small\nRep: 1\nStatus: COMPLETE | PARTIAL | BLOCKED\n"
        "M1 success:        0-3   evidence:\n# M6 cost/context: 3 (mechanical)\nM7:                0-3   evidence:\n"
        "Agents dispatched: builder\nTool calls approx:\nNotes / weaknesses observed:\n"
    )
    again, findings = parse(text, "")
    assert findings == []
    assert again[0].marks == {"M1": Mark(None, "", 6), "M7": Mark(None, "", 8)}


WORDS = st.text("abc é日:0", min_size=1, max_size=20).map(str.strip).filter(bool)
MARKS = st.one_of(st.just(Mark(None)), st.builds(Mark, st.integers(0, 3), WORDS))


@given(
    st.dictionaries(st.sampled_from(["M1", "M2", "M7", "outcome"]), MARKS),
    st.sampled_from([None, *STATUSES]),
    WORDS,
)
def test_a_card_that_was_written_is_read_back(marks: dict[str, Mark], status: str | None, notes: str) -> None:
    card = Card("S1-typo", "8kq2v7xa", "scripted/default", 3, "Ann", status, marks, "builder, tester", "12", notes)
    (read,), findings = parse(dump([card], {"M1": "success"}), "")
    assert findings == []
    assert (read.scenario, read.run, read.cell, read.rep) == ("S1-typo", "8kq2v7xa", "scripted/default", 3)
    assert (read.by, read.status) == ("Ann", status)
    assert {n: (m.score, m.evidence.split()) for n, m in read.marks.items()} == {
        n: (m.score, m.evidence.split()) for n, m in marks.items()
    }
    assert (read.agents, read.calls, read.notes) == ("builder, tester", "12", notes)
