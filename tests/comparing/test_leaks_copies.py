"""Reps that are copies of one another are said to be no independent observations; reps that leaked make a gate invalid."""

from __future__ import annotations

from comparing_rows import NEW, OLD, make_row

from evalrepo.comparing.cells import Planned, compare_cell
from evalrepo.comparing.independence import copies
from evalrepo.comparing.leaked import leak_reasons, leaked
from evalrepo.comparing.pool import pool, score
from evalrepo.records.row import pack, unpack


def said(*conversations: str, run: str = "aaaaaaaa", verdicts: str = ""):
    row = make_row(run, verdicts or "P" * len(conversations))
    reps = tuple(rep._replace(conversation=c) for rep, c in zip(row.reps, conversations, strict=True))
    return row._replace(reps=reps)


def repeats(*rows) -> int:
    return score(pool(list(rows), NEW).groups[0], 10).repeats


def test_valid_reps_with_the_conversation_of_an_earlier_one_are_counted_over_runs():
    assert repeats(said("x", "y", "z")) == 0
    assert repeats(said("x", "x", "x")) == 2
    assert repeats(said("x", "y"), said("y", "x", run="bbbbbbbb")) == 2
    assert repeats(said("", "")) == 0
    assert repeats(said("x", "x", verdicts="PE")) == 0


def test_a_row_keeps_the_conversations_through_the_cache():
    row = said("x", "y")
    assert unpack(pack(row)) == row


def test_the_note_names_the_cells_and_leaves_out_what_a_script_played():
    planned = Planned("S1", "claude", "haiku", OLD, NEW)
    old = make_row("cccccccc", "PPP", OLD)
    found = compare_cell(planned, [old, said("x", "x", "y")])

    class Bare:
        cells = (found,)

    (note,) = copies(Bare)
    assert note.kind == "note"
    assert "1 rep of 1 cell" in note.text
    assert "S1" in note.text
    Bare.cells = (found._replace(model_free=True),)
    assert copies(Bare) == []


def test_a_leaked_rep_counts_once_whoever_judged_it_again_and_an_exception_is_for_that_rep_alone():
    row = make_row("aaaaaaaa", "PEE")
    reps = tuple(r._replace(error="leak") if r.verdict == "ERROR" else r for r in row.reps)
    row = row._replace(reps=reps)
    again = row._replace(run="bbbbbbbb", rescored_from="aaaaaaaa")
    found = leaked([row, again, make_row("dddddddd", "PE")])
    assert [(r.run, r.rep) for r in found] == [("aaaaaaaa", 2), ("aaaaaaaa", 3)]
    (reason,) = leak_reasons(found)
    assert (reason.kind, reason.code, reason.command) == ("invalid", "leak", "evalrepo show aaaaaaaa")
    assert all(r.hash in reason.text for r in found)
    assert [r.rep for r in leaked([row], {found[0].hash})] == [3]
