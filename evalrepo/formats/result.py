"""Result files: markdown for people, and at its end one fenced JSON block, the record, which is the data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from evalrepo import __version__
from evalrepo.errors import DataError, Finding, Place
from evalrepo.formats.fence import CLOSE, OPEN, RESTORE, block_of, fault, json_of, load_json
from evalrepo.formats.inert import escape_json
from evalrepo.formats.result_body import body
from evalrepo.records.record import SCHEMA, MetricScore, Record, Rep

__all__ = ["check", "dump", "encoded", "file_name", "load", "load_json", "sealed"]

FOLDER = "AgentsReport/evaluation"
_HEAD = "\n<details><summary>Record</summary>\n\n" + OPEN.decode() + "\n"
_TAIL = "\n```\n\n</details>\n"


def dump(record: Record) -> str:
    """The whole file. A reserve record is written as `sealed` makes it; `load(dump(r).encode(), "") == sealed(r)`."""
    return encoded(record).decode()


def encoded(record: Record) -> bytes:
    """The same as bytes; of a record of a thousand reps it is some megabytes, which are not held more than twice."""
    record = sealed(record)
    return b"".join([(body(record) + _HEAD).encode(), *_json(record), _TAIL.encode()])


def sealed(record: Record) -> Record:
    """A reserve record without messages and evidence; a run-set record as it is."""
    if record.set != "reserve":
        return record
    return record.model_copy(update={"reps": tuple(map(sealed_rep, record.reps)), "notes": ()})


def sealed_rep(rep: Rep) -> Rep:
    """A reserve rep without message and evidence, and without a judge's or a person's words about it."""
    checks = tuple(check.model_copy(update={"evidence": ()}) for check in rep.checks)
    metrics = {name: _bare(score) for name, score in rep.metrics.items()}
    judged = tuple(judgement.bare() for judgement in rep.judged)
    return rep.model_copy(update={"message": "", "checks": checks, "metrics": metrics, "judged": judged})


def _bare(score: MetricScore) -> MetricScore:
    ratings = tuple(rating.model_copy(update={"evidence": ""}) for rating in score.ratings)
    return score.model_copy(update={"evidence": "", "places": (), "ratings": ratings})


def _json(record: Record) -> Iterator[bytes]:
    """One line a key, one line a rep; no character that markdown or a terminal would act on."""
    data = record.model_copy(update={"reps": ()}).model_dump(mode="json", by_alias=True)
    between = "{"
    for key, value in {"schema": data.pop("schema"), **data}.items():
        yield f"{between}{_value(key)}: ".encode()
        if key == "reps":
            yield from _reps(record.reps)
        else:
            yield _value(value).encode()
        between = ",\n"
    yield b"}"


def _reps(reps: Sequence[Rep]) -> Iterator[bytes]:
    """One at a time: all of them as dicts would be many megabytes."""
    for number, rep in enumerate(reps):
        line = _value(rep.model_dump(mode="json", by_alias=True))
        yield f"{',' if number else '['}\n{line}".encode()
    yield b"\n]" if reps else b"[]"


def _value(value: Any) -> str:
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def load(text: bytes, file: str) -> Record:
    """The record. DataError: RES001 no fence, RES002 no JSON, RES003 a newer schema, RES004 not in its schema."""
    block = block_of(text, file)
    data = json_of(block, text, file, strict=True)
    schema = data.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        message = f"the record has schema {schema}; this evalrepo reads schemas up to {SCHEMA}"
        raise fault(text, file, "RES003", message, "install a newer evalrepo")
    try:
        return Record.model_validate_json(block)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        message = f"the record does not fit its schema: {where}: {first['msg'].lower()}"
        raise fault(text, file, "RES004", message, RESTORE) from None


def check(text: bytes, file: str) -> list[Finding]:
    """What is wrong with a result file: what `load` refuses, a body that its record does not render to, its name.

    The body is compared only where this version wrote it: another one may have worded it otherwise.
    """
    try:
        record = load(text, file)
    except DataError as error:
        return list(error.findings)
    findings = []
    line = _difference(text, record) if record.evalrepo == __version__ else 0
    if line:
        message = "the text is not what its record says"
        findings.append(Finding(Place(file, line, 1), "RES005", message, f"{RESTORE}; notes go beside it"))
    if file.startswith(FOLDER + "/") and file.rpartition("/")[2] != file_name(record).rpartition("/")[2]:
        wanted = file_name(record).rpartition("/")[2]
        findings.append(
            Finding(Place(file), "RES006", "the file has another name than its record", f"name it {wanted}")
        )
    return findings


def file_name(record: Record) -> str:
    """Repository path of the record's file; date and folder by its start, UTC."""
    scenario = record.scenario.replace("/", "~")
    tier = record.tier.replace(":", "+")
    day = record.start[:10]
    return f"{FOLDER}/{day[:7]}/{day}_scenario-{scenario}_{record.agent}-{tier}_{record.run}.md"


def _difference(text: bytes, record: Record) -> int:
    """1-based line where text around the record's JSON first differs from what is rendered; 0 when it does not."""
    text = text.replace(b"\r\n", b"\n")
    start = text.rindex(OPEN) + len(OPEN)
    end = text.index(CLOSE, start)
    before, after = body(record) + _HEAD.removesuffix("\n"), _TAIL
    line = _first_difference(text[:start], before.encode())
    if line:
        return line
    line = _first_difference(text[end:], after.encode())
    return text.count(b"\n", 0, end) + line if line else 0


def _first_difference(got: bytes, wanted: bytes) -> int:
    if got == wanted:
        return 0
    pairs = zip(got.split(b"\n"), wanted.split(b"\n"), strict=False)
    number = 0
    for number, (a, b) in enumerate(pairs, 1):
        if a != b:
            return number
    return number
