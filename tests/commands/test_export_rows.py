"""Reps as rows: TSV that the importer reads again, CSV that starts no formula, JSON lines with every attempt."""

from __future__ import annotations

import csv
import io
import json

import pytest

from evalrepo.render.rows import COLUMNS, TSV, csv_lines
from tests.commands.conftest import Repo


@pytest.fixture
def measured(repo: Repo) -> Repo:
    repo.run("run", "--reps", "2")
    return repo


def test_tsv_has_a_row_a_rep_and_the_importer_reads_it(measured: Repo):
    text = measured.run("export", "--format", "tsv")
    head, *rows = [line.split("\t") for line in text.splitlines()]
    assert tuple(head) == TSV
    run = measured.records()[0]["run"]
    assert [row[:5] for row in rows] == [["S1-typo", "scripted", f"{run}:{n}", "PASS", "A=pass B=pass"] for n in (1, 2)]
    assert all("agent=scripted/default" in row[5] and "tools=2" in row[5] for row in rows)
    (measured.path / "results-2026-07-01.tsv").write_text(text)
    done = measured.json("import", "results-2026-07-01.tsv")
    assert done["results"] == 2


def test_csv_and_json_lines_say_the_same_of_every_attempt(measured: Repo):
    rows = list(csv.DictReader(io.StringIO(measured.run("export", "S1-typo", "--format", "csv"))))
    lines = [json.loads(line) for line in measured.run("export", "S1-typo", "--format", "jsonl").splitlines()]
    assert tuple(rows[0]) == tuple(lines[0]) == COLUMNS
    assert len(rows) == len(lines) == 2
    for row, line in zip(rows, lines, strict=True):
        assert (row["run"], row["rep"], row["verdict"]) == (line["run"], str(line["rep"]), line["verdict"])
        assert row["checks"] == "looks=pass fixed=pass"
        assert line["checks"] == {"looks": "pass", "fixed": "pass"}
        assert (row["cache_read_tokens"], line["cache_read_tokens"]) == ("", None)
        assert (row["last"], line["last"]) == ("true", True)


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1", "@SUM(A1)", "\tx"])
def test_what_a_spreadsheet_would_run_is_text(text: str):
    row = dict.fromkeys(COLUMNS) | {"cli_version": text, "spawns": [text], "cost_usd": -0.5}
    found = next(csv.DictReader(io.StringIO("".join(csv_lines([row])))))
    assert found["cli_version"] == found["spawns"] == f"'{text}"
    assert found["cost_usd"] == "-0.5"


def test_a_superseded_record_is_left_out_of_tsv_and_named_in_the_others(measured: Repo):
    run = measured.records()[0]["run"]
    measured.run("correct", run, "S1-typo", "--rep", "1", "--why", "the machine was out of disk space")
    assert measured.run("export", "--format", "tsv").count("\n") == 3
    lines = [json.loads(line) for line in measured.run("export", "--format", "jsonl").splitlines()]
    later = {line["run"]: line["superseded_by"] for line in lines}
    assert later[run]
    assert later[later[run]] == ""


def test_a_file_is_written_once_and_wrong_options_are_said(measured: Repo):
    measured.run("export", "--format", "csv", "--output", "reps.csv")
    assert (measured.path / "reps.csv").read_text().startswith("run,scenario,")
    assert "cannot be written" in measured.run("export", "--format", "csv", "--output", "reps.csv", exit=2)
    assert "--rep is of transcripts" in measured.run("export", "--format", "csv", "--rep", "1", exit=2)
