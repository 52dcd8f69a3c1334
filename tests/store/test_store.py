"""Loading, caching, choosing and indexing what a tree holds."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrong_files import Swap, write

from evalrepo.errors import DataError, UsageError
from evalrepo.repository.repo import Repository
from evalrepo.store import Index, index, load, select_ids, touched, usable
from evalrepo.store.cache import Cache
from evalrepo.store.loading import Loaded

S1, S2, R1 = "S1-note", "S2-question", "S1-note-reserve"
SET = """\
title: Calls
subject: style
defaults:
  fixture: plain
  checks: [{id: base, axis: A, status: COMPLETE}]
cases:
  - id: first
    turns: [{prompt: one}]
  - id: second
    turns: [{prompt: two}]
    checks: [{id: own, axis: B, status: BLOCKED}]
"""


def dumped(loaded: Loaded) -> dict[str, object]:
    return {i: (s.path, s.set, s.case, s.scenario.model_dump()) for i, s in loaded.scenarios.items()}


def test_a_tree_gives_its_scenarios_with_set_and_subject_defaults_merged_in(repo: Repository):
    write(repo.top, {"scenarios/calls.yaml": SET})
    config = repo.top / "evalrepo.yaml"
    config.write_text(
        config.read_text().replace("agents: [scripted]", "agents: [scripted]\n    defaults: {limits: {wall_s: 5}}")
    )
    loaded = usable(load(repo.tree("WORKTREE"), repo))
    assert list(loaded.scenarios) == [S1, S2, "calls/first", "calls/second", R1]
    second = loaded.scenarios["calls/second"]
    assert [c.id for c in second.scenario.checks] == ["base", "own"]
    assert (second.case, second.scenario.fixture, second.scenario.limits.wall_s) == ("second", "plain", 5.0)
    assert [loaded.scenarios[i].set for i in (S1, R1)] == ["run-set", "reserve"]
    assert list(loaded.rubrics) == ["tone"]


def test_commit_index_and_work_tree_load_alike(repo: Repository):
    trees = [dumped(load(repo.tree(name), repo)) for name in ("HEAD", "INDEX", "WORKTREE")]
    assert trees[0] == trees[1] == trees[2]


def test_bad_files_are_findings_and_the_others_are_still_there(repo: Repository):
    write(repo.top, {f"scenarios/{S1}.yaml": Swap("fixture: plain", "fixtur: plain"), "scenarios/x.yaml": b"\xff"})
    loaded = load(repo.tree("WORKTREE"), repo)
    assert {f.place.file for f in loaded.findings} == {f"scenarios/{S1}.yaml", "scenarios/x.yaml"}
    assert S1 not in loaded.scenarios
    assert S2 in loaded.scenarios
    with pytest.raises(DataError) as caught:
        usable(loaded)
    assert caught.value.findings == loaded.findings
    assert load(repo.tree("WORKTREE"), repo).findings == loaded.findings


def damage_nothing(path):
    pass


def damage_all(path):
    path.write_bytes(b"no database")


def cut(path):
    path.write_bytes(path.read_bytes()[:3000])


def foreign(path):
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE kept (key TEXT, body TEXT, sum TEXT)")
        base.execute("INSERT INTO kept VALUES ('x', 'y', 'z')")


def lie(path):
    with sqlite3.connect(path) as base:
        base.execute("""UPDATE kept SET body = replace(body, 'A note', 'A lie')""")


def take_the_place(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage", [damage_nothing, damage_all, cut, foreign, lie, take_the_place], ids=lambda d: d.__name__
)
def test_a_cache_in_any_state_changes_no_answer(damage, repo: Repository):
    tree = repo.tree("HEAD")
    cold = dumped(load(tree))
    assert dumped(load(tree, repo)) == cold
    for file in sorted((repo.home / "cache").glob("*.sqlite")):
        damage(file)
    assert dumped(load(tree, repo)) == cold
    assert dumped(load(tree, repo)) == cold


def test_a_warm_load_reads_no_yaml(repo: Repository):
    load(repo.tree("HEAD"), repo)
    kept = Cache(repo.home, "parsed", 1).get(f"scenario:{e.oid}" for e in repo.tree("HEAD").under("scenarios").values())
    assert len(kept) == 2


def test_an_older_reader_s_entries_are_not_believed(repo: Repository):
    Cache(repo.home, "x", 1).put({"a": "old"})
    assert Cache(repo.home, "x", 1).get(["a"]) == {"a": "old"}
    assert Cache(repo.home, "x", 2).get(["a"]) == {}


IDS = {
    "S1-note": "run-set",
    "S2-x": "run-set",
    "S2-y": "run-set",
    "set/a": "run-set",
    "set/b": "run-set",
    "S1-r": "reserve",
}


@pytest.mark.parametrize(
    ("patterns", "reserve", "wanted"),
    [
        ([], False, ["S1-note", "S2-x", "S2-y", "set/a", "set/b"]),
        (["S1"], False, ["S1-note"]),
        (["S1"], True, ["S1-r"]),
        (["S2-y", "S1-note"], False, ["S1-note", "S2-y"]),
        (["S*"], False, ["S1-note", "S2-x", "S2-y"]),
        (["set"], False, ["set/a", "set/b"]),
        (["set/*"], False, ["set/a", "set/b"]),
        (["set/b"], False, ["set/b"]),
        (["*"], False, ["S1-note", "S2-x", "S2-y", "set/a", "set/b"]),
    ],
)
def test_ids_aliases_sets_and_globs_choose(patterns, reserve, wanted):
    assert select_ids(IDS, patterns, reserve=reserve) == wanted


@pytest.mark.parametrize(
    ("pattern", "message", "hint"),
    [
        ("S2", "S2-x, S2-y", "whole id"),
        ("S1-not", "S1-not", "did you mean S1-note?"),
        ("S1-r", "run-set", "it is in the reserve"),
        ("X*", "X*", "evalrepo list"),
        ("set/c", "set/c", "did you mean set/"),
    ],
)
def test_what_is_not_there_is_answered_with_the_nearest(pattern, message, hint):
    with pytest.raises(UsageError, match=r".") as caught:
        select_ids(IDS, [pattern])
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_a_changed_path_touches_the_scenarios_that_name_it(repo: Repository):
    write(repo.top, {"scenarios/calls.yaml": SET})
    found = index(repo.tree("WORKTREE"), repo)
    assert touched(found, ["docs/x.md", "scenarios/files/other"]) == {}
    assert touched(found, [f"scenarios/{S2}.yaml"]) == {S2: [f"scenario scenarios/{S2}.yaml"]}
    assert list(touched(found, ["scenarios/calls.yaml"])) == ["calls/first", "calls/second"]
    assert list(touched(found, ["fixtures/plain/a/b"])) == [S1, "calls/first", "calls/second", R1]
    assert touched(found, ["rubrics/tone.md"]) == {R1: ["rubric rubrics/tone.md"]}
    hidden = "scenarios/files/S1-note/check.sh"
    assert touched(found, [hidden]) == {S1: [f"hidden file {hidden}"], R1: [f"hidden file {hidden}"]}
    assert touched(found, ["subjects/style/STYLE.md"])[S2] == ["subject style: subjects/style/STYLE.md"]
    assert list(touched(found, ["evalrepo.yaml"])) == list(found.ids)


def test_a_warm_index_is_the_cold_one_and_needs_neither_yaml_nor_models(repo: Repository, environ):
    cold = index(repo.tree("HEAD"), repo)
    assert index(repo.tree("HEAD"), repo) == cold
    assert select_ids(cold.sets, ["S1"]) == [S1]
    part = load(repo.tree("HEAD"), repo, only=[cold.path(S1), cold.path(R1)])
    assert list(part.scenarios) == [S1, R1]
    code = (
        "import sys, os\nfrom pathlib import Path\nfrom evalrepo.world import World\n"
        "from evalrepo.repository.repo import Repository\nfrom evalrepo.store import index, touched\n"
        "repo = Repository.open(World(Path.cwd(), dict(os.environ), None, None))\n"
        "print(*touched(index(repo.tree('HEAD'), repo), ['fixtures/plain/README.md']))\n"
        "print({'pydantic', 'ruamel', 'git', 'jsonschema'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.top, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{S1} {R1}", "set()"]


@given(
    st.lists(st.sampled_from(["a", "a/b", "a/b/c", "b", "a/b/d/e", "ab"]), max_size=4),
    st.sampled_from(["a/b", "a", "ab"]),
)
def test_a_directory_concerns_exactly_what_lies_below_it(changed, folder):
    one = Index(("x",), (), under={folder: {"fixture": [0]}})
    below = [p for p in dict.fromkeys(changed) if p == folder or p.startswith(folder + "/")]
    assert touched(one, changed) == ({"x": [f"fixture {p}" for p in below]} if below else {})
