"""What can be quoted of a kept rep: rows of logs, and files of its sandbox with what the agent made of them."""

from __future__ import annotations

import json

import pytest

from evalrepo.running.quoting import Quotes


def state(size: int, sha256: str) -> dict:
    return {"mode": "100644", "size": size, "sha256": sha256}


OUTCOME = {
    "before": {"same.txt": state(1, "a"), "new.txt": state(2, "b"), "gone.txt": state(3, "c")},
    "after": {"same.txt": state(1, "a"), "new.txt": state(1234, "d"), "made.txt": state(5, "e")},
    "fired": {},
    "kept": ["files/new.txt"],
}
FILES = {
    "log.jsonl": b'{"one": 1}\n{"two": "\xff"}\n',
    "outcome.json": json.dumps(OUTCOME).encode(),
    "files/new.txt": b"h\xff",
    "judge/0123456789abcdef.txt": b"a prompt",
}


def test_rows_count_from_one_and_what_is_not_there_is_none():
    quotes = Quotes("log.jsonl", "ref:log.jsonl", FILES)
    assert [quotes.row("log.jsonl", n) for n in (0, 1, 2, 4)] == [None, '{"one": 1}', '{"two": "\ufffd"}', None]
    assert quotes.row("other.jsonl", 1) is None


def test_of_a_file_it_is_known_what_the_agent_made_of_it_and_its_text_where_that_was_kept():
    quotes = Quotes("log.jsonl", "ref:log.jsonl", FILES)
    assert quotes.left("new.txt") == ("changed, 1,234 bytes", "h\ufffd")
    assert quotes.left("made.txt") == ("added, 5 bytes", None)
    assert quotes.left("same.txt") == ("as it was, 1 bytes", None)
    assert quotes.left("gone.txt") == ("removed by the agent", None)
    assert quotes.left("never.txt") == ("", None)


def test_a_judges_texts_are_named_by_their_digest_wherever_they_are_kept():
    digest, other = "0123456789abcdef" + "0" * 48, "f" * 64
    later = {"judge/ffffffffffffffff.txt": b"a reply"}
    quotes = Quotes("log.jsonl", "ref:log.jsonl", FILES, later)
    assert [quotes.said(d) for d in (digest, other, "1" * 64, "")] == ["a prompt", "a reply", "", ""]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"before": 1, "after": {}}', b'{"before": {"a": {"x": 1}}}']
)
def test_an_outcome_that_cannot_be_read_tells_nothing(data: bytes):
    assert Quotes("log.jsonl", "ref:log.jsonl", {**FILES, "outcome.json": data}).left("new.txt") == ("", None)
