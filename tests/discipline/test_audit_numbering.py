"""A clone's count of its records, and where those are that are not here."""

from __future__ import annotations

from evalrepo.discipline.numbering import Fact, Given, counts, own_numbers


def fact(sequence: int, previous: str, digest: str, clone: str = "c") -> Fact:
    return Fact(f"{clone}{sequence}{digest}.md", digest, clone, sequence, previous, digest, "run", "run", ())


def nowhere(_: str, __: int) -> str:
    return ""


def test_a_whole_chain_has_no_finding_whatever_its_order_and_branches():
    whole = [fact(1, "", "a"), fact(2, "a", "b"), fact(3, "b", "c"), fact(1, "", "x", "other")]
    assert list(counts([*reversed(whole), whole[0]], nowhere)) == []


def test_a_gap_a_repetition_and_a_broken_link_are_findings():
    (gap,) = counts([fact(1, "", "a"), fact(3, "b", "c")], nowhere)
    assert (gap.code, gap.warning, gap.place.file) == ("RUN001", False, "c3c.md")
    assert [f.code for f in counts([fact(1, "", "a"), fact(1, "", "b")], nowhere)] == ["RUN002"]
    assert [f.code for f in counts([fact(1, "", "a"), fact(2, "z", "b")], nowhere)] == ["RUN003"]


def test_what_lacks_before_the_first_record_is_a_gap_too():
    (gap,) = counts([fact(4, "z", "a")], nowhere)
    assert gap.message.startswith("numbers 1 to 3 of clone c")


def test_of_a_gap_that_is_partly_elsewhere_both_halves_are_told():
    gap, found = counts([fact(4, "z", "a")], lambda _, number: "refs/heads/topic" if number == 2 else "")
    assert (gap.message.split(" of ")[0], gap.warning) == ("numbers 1, 3", False)
    assert (found.warning, "number 2" in found.message, "refs/heads/topic" in found.message) == (True, True, True)


def test_a_number_that_this_clone_gave_and_that_is_nowhere_is_found_without_a_later_record():
    here = [fact(1, "", "a")]
    (lost,) = own_numbers(here, "c", [Given("one", 1, 1, "t1"), Given("two", 2, 2, "t2")], nowhere)
    assert (lost.code, lost.place.file) == ("RUN001", "refs/evalrepo/runs/two")
    assert "numbers 2 to 3" in lost.message
    assert "git archive t2" in lost.hint
    assert list(own_numbers(here, "c", [Given("two", 2, 2, "t2")], lambda *_: "refs/heads/topic")) == []
