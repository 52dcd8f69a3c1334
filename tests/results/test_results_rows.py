"""Records out of trees and run refs, and a cache that is never believed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.formats import result
from evalrepo.records import record as models
from evalrepo.records import row as rows_of
from evalrepo.records.record import BarRecord, CheckResult, Digests, Outcome, Record, Rep, Timing, Verdict
from evalrepo.records.row import BadRecord, from_record, head, pack, unpack
from evalrepo.repository.repo import Repository
from evalrepo.results import parts, records, rows
from evalrepo.results.reading import _by_lines, _found
from evalrepo.results.rows import sliced
from evalrepo.results.table import Builder, dump, load
from evalrepo.world import World

GOLDEN = Path(__file__).parent.parent / "golden" / "results"
FOLDER = "AgentsReport/evaluation"


def make(run: str, verdicts: str = "PPF", scenario: str = "S1", subject: str = "a") -> Record:
    digests = Digests(
        subject=subject * 64, stimulus="b" * 64, instrument="c" * 64, apparatus="d" * 64,
        parts={"apparatus": {"cli": "1.0"}, "instrument": {"checks": "e" * 64}},
    )  # fmt: skip
    reps = tuple(
        Rep(
            rep=i + 1,
            attempt=1,
            verdict=Verdict({"P": "PASS", "F": "FAIL", "E": "ERROR"}[v]),
            error="idle" if v == "E" else "",
            checks=(CheckResult(id="c", axis="A", outcome=Outcome.FAIL if v == "F" else Outcome.PASS),),
            models=("m",),
            timing=Timing(start="2026-11-29T10:00:00Z", seconds=1.5),
        )
        for i, v in enumerate(verdicts)
    )
    return Record(
        scenario=scenario, title="t", agent="scripted", tier="x", subjects=("s",), digests=digests, commit="f" * 40,
        dirty=False, isolation="none", bar=BarRecord(passes=2, of=3), run=run, start="2026-11-29T10:00:00Z",
        end="2026-11-29T10:01:00Z", evalrepo="0.1.0", clone="0" * 16, sequence=1, reps=reps,
    )  # fmt: skip


class Lab:
    """A repository and its git."""

    def __init__(self, base: Path) -> None:
        self.top = base / "repo"
        self.top.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(base), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.top, env=self.env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        for path, text in files.items():
            place = self.top / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        return self.git("rev-parse", "HEAD")

    def land(self, *made: Record) -> str:
        return self.commit({result.file_name(r): result.dump(r) for r in made})

    def ref(self, record: Record) -> None:
        repo = self.repo()
        blob = repo.write_blob(result.dump(record).encode())
        from evalrepo.repository.objects import Entry

        name = "results/" + result.file_name(record).rpartition("/")[2]
        decoy = repo.write_blob(result.dump(make("decoy000", "PPP")).encode())
        tree = repo.write_tree({name: Entry("100644", blob), "artefacts/forged.md": Entry("100644", decoy)})
        repo.move_ref(f"refs/evalrepo/runs/{record.run}", repo.write_commit(tree, [], "run"), None)

    def repo(self) -> Repository:
        now = datetime(2026, 11, 29, tzinfo=UTC)
        return Repository.open(World(cwd=self.top, environ=self.env, now=lambda: now, random=os.urandom))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def runs(found) -> list[str]:
    return sorted(row.run for rows in found.select(dict.fromkeys(found.cells())).values() for row in rows)


def test_the_union_of_two_trees_and_the_run_refs_has_every_record_once(lab: Lab):
    one, two, three = make("run00001"), make("run00002"), make("run00003")
    a = lab.land(one)
    lab.land(two)
    lab.ref(two)
    lab.ref(three)
    repo = lab.repo()
    for _ in range(2):
        assert runs(rows(repo, [repo.tree(a), repo.tree("HEAD")])) == ["run00001", "run00002", "run00003"]
        assert runs(rows(repo, [repo.tree(a)], refs=False)) == ["run00001"]


def test_a_file_that_an_agent_left_in_a_run_ref_is_no_record(lab: Lab):
    lab.land(make("run00001"))
    lab.ref(make("run00002"))
    repo = lab.repo()
    assert "decoy000" not in runs(rows(repo, [repo.tree("HEAD")]))


def test_new_run_refs_join_those_that_the_cache_knows(lab: Lab):
    lab.commit({"README.md": "x"})
    lab.ref(make("run00001"))
    repo = lab.repo()
    assert runs(rows(repo, [repo.tree("HEAD")])) == ["run00001"]
    lab.ref(make("run00002"))
    assert runs(rows(repo, [repo.tree("HEAD")])) == ["run00001", "run00002"]


def test_the_work_tree_counts_before_it_is_committed(lab: Lab):
    lab.land(make("run00001"))
    fresh = make("run00002")
    (lab.top / result.file_name(fresh)).write_text(result.dump(fresh))
    repo = lab.repo()
    found = rows(repo, [repo.tree("WORKTREE")])
    assert runs(found) == ["run00001", "run00002"]
    [held] = found.select(dict.fromkeys(found.cells())).values()
    assert [r.run for r in records(found.git, held)] == ["run00001", "run00002"]


def test_what_holds_no_record_is_a_finding_and_a_note_is_none(lab: Lab):
    newer = json.dumps({"schema": 99})
    lab.commit(
        {
            f"{FOLDER}/2026-11/a.md": "# nothing\n",
            f"{FOLDER}/2026-11/b.md": "```json evalrepo-record\n{\n```\n",
            f"{FOLDER}/2026-11/c.md": f"```json evalrepo-record\n{newer}\n```\n",
            f"{FOLDER}/2026-11/a.notes.md": "free text\n",
            f"{FOLDER}/2026-11/.gitkeep": "",
            f"{FOLDER}/2026-07-01_scenario-3.md": "Scenario: S3\nStatus: COMPLETE\n",
        }
    )
    repo = lab.repo()
    for _ in range(2):
        found = rows(repo, [repo.tree("HEAD")])
        assert [(f.place.file.rpartition("/")[2], f.code) for f in found.findings] == [
            ("a.md", "RES001"), ("b.md", "RES002"), ("c.md", "RES004"),
        ]  # fmt: skip
        assert found.by_hand == (f"{FOLDER}/2026-07-01_scenario-3.md",)
        assert len(found) == 0


def test_a_record_whose_reps_are_broken_is_a_finding_when_it_is_read(lab: Lab):
    record = make("run00001")
    broken = result.dump(record).replace('"verdict": "FAIL"', '"verdict": "GOOD"')
    lab.commit({result.file_name(record): broken})
    repo = lab.repo()
    found = rows(repo, [repo.tree("HEAD")])
    assert runs(found) == []
    assert [f.code for f in found.findings] == ["RES004"]


@pytest.mark.parametrize("damage", [b"", b"evalrepo rows 1 2 00000000\n[]", b"\x00" * 200, None])
def test_a_damaged_cache_is_read_anew(lab: Lab, damage: bytes | None):
    lab.land(make("run00001"))
    lab.ref(make("run00002"))
    repo = lab.repo()
    rows(repo, [repo.tree("HEAD")])
    for file in (repo.home / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-5] if damage is None else damage)
    assert runs(rows(repo, [repo.tree("HEAD")])) == ["run00001", "run00002"]


def test_a_cache_that_cannot_be_written_is_no_cache(lab: Lab):
    lab.land(make("run00001"))
    repo = lab.repo()
    repo.home.mkdir(parents=True)
    (repo.home / "cache").write_text("in the way")
    assert runs(rows(repo, [repo.tree("HEAD")])) == ["run00001"]


def test_only_the_subjects_asked_for_and_the_newest_other_are_read(lab: Lab):
    lab.land(make("run00001", subject="1"), make("run00002", subject="2"), make("run00003", subject="3"))
    repo = lab.repo()
    found = rows(repo, [repo.tree("HEAD")])
    [held] = found.select({("S1", "scripted", "x"): ["1" * 64]}).values()
    assert sorted(row.subject[0] for row in held) == ["1", "3"]


def test_the_parts_of_a_record_are_those_it_was_written_with(lab: Lab):
    record = make("run00001")
    lab.land(record)
    repo = lab.repo()
    found = rows(repo, [repo.tree("HEAD")])
    [held] = found.select(dict.fromkeys(found.cells())).values()
    assert list(parts(found.git, held).values()) == [record.digests.parts]


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.md")), ids=lambda p: p.stem)
def test_a_row_says_what_the_strict_record_says(file: Path):
    data = file.read_bytes()
    record, row = result.load(data, ""), from_record(result.load_json(data), "p", "o")
    assert (row.run, row.cell, row.start) == (record.run, record.cell, record.start)
    assert (row.subject, row.stimulus, row.instrument, row.apparatus) == record.digests.key()
    assert row.apparatus_parts == record.digests.parts.get("apparatus", {})
    assert [(r.rep, r.attempt, r.verdict, r.error, r.axes) for r in row.reps] == [
        (r.rep, r.attempt, str(r.verdict), r.error, r.axes_failed) for r in record.reps
    ]
    last = {n: tries[-1] for n, tries in row.attempts().items()}
    assert [last[n].verdict for n in sorted(last)] == [r.verdict for r in record.last_attempts()]


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.md")), ids=lambda p: p.stem)
def test_the_head_by_lines_is_the_head_by_json(file: Path):
    data = file.read_bytes()
    assert json.loads(sliced(data)) == result.load_json(data)
    assert _by_lines(b"x" + data + b"y", 1, 1 + len(data), {}) == _found(data) == head(result.load_json(data))


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.md")), ids=lambda p: p.stem)
def test_a_record_in_other_lines_is_read_as_json(file: Path):
    data = file.read_bytes()
    for indent in (None, 1):
        other = data.replace(sliced(data), json.dumps(result.load_json(data), indent=indent).encode())
        assert _by_lines(other, 0, len(other), {}) is None
        assert _found(other) == _found(data)


def test_lines_beyond_the_end_of_a_record_are_not_its_own():
    data = result.dump(make("run00001")).encode()
    start = b'"start": "2026'
    assert _by_lines(data, 0, data.index(start), {}) is None
    torn = data.replace(start, b"```\n" + start)
    assert _by_lines(torn, 0, len(torn), {}) is None
    assert _found(torn) == ("RES002", "the record is not JSON")


def test_of_two_fences_the_last_is_the_record():
    data = result.dump(make("run00001")).encode()
    two = result.dump(make("run00002", scenario="S2")).encode() + data
    assert _by_lines(two, 0, len(two), {}) == _found(two) == _found(data)


def test_a_table_is_what_was_dumped():
    builder = Builder()
    builder.add(head(result.load_json(result.dump(make("run00001")).encode())), "oid", "path.md")
    builder.table.bad.append(("x.md", "oid2", "RES001", "message"))
    found = load(dump(builder.table))
    assert found is not None
    assert (found.head(0), found.path, found.cell) == (builder.table.head(0), ["path.md"], [0])
    assert [tuple(b) for b in found.bad] == builder.table.bad


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"schema": True}, {"schema": 0}, {"schema": 2}, {"schema": 1}, {"schema": 1, "digests": []}],
)
def test_what_is_no_record_is_said_in_a_sentence(data: object):
    for read in (head, lambda d: from_record(d, "p")):
        with pytest.raises(BadRecord, match="record"):
            read(data)


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.md")), ids=lambda p: p.stem)
def test_a_packed_row_comes_back_through_json(file: Path):
    row = from_record(result.load_json(file.read_bytes()), "p", "o")
    assert unpack(json.loads(json.dumps(pack(row)))) == row


def test_records_that_were_asked_for_again_are_the_same(lab: Lab):
    lab.land(make("run00001"), make("run00002", scenario="S2"))
    repo = lab.repo()
    first, second = (rows(repo, [repo.tree("HEAD")]) for _ in range(2))
    asked = dict.fromkeys(first.cells())
    assert first.select(asked) == second.select(asked)
    assert [p.name for p in (repo.home / "cache").rglob("selected/*")]


def test_rows_and_records_agree_on_constants():
    assert rows_of.ROW_SCHEMA == models.SCHEMA
    assert {str(p) for p in models.NEVER_POOLED} == rows_of.NEVER_POOLED
