"""`run --since`: paths bound what is selected, the digests decide; both ways come to the same."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from evalrepo.repository.repo import Repository
from evalrepo.running.impact import concerned
from evalrepo.running.select import Side, changed, since
from evalrepo.store import load
from evalrepo.world import World
from tests.commands.conftest import CONFIG, GUIDE, SCENARIO

TWO = CONFIG.replace(
    "agents:\n  scripted:",
    "  rules:\n    paths: [rules/*.md]\n    agents: [scripted]\n    on_change: some\nagents:\n  scripted:",
    1,
).replace("  release:", '  some: {scenarios: ["S2", "S3*"]}\n  release:')
HIDDEN = SCENARIO.replace(
    "conformance:",
    "  - {id: hidden, axis: C, command: {run: 'test -f x', files: {x: scenarios/files/x.txt}}}\nconformance:",
)
FILES = {
    "evalrepo.yaml": TWO,
    "subjects/style/GUIDE.md": GUIDE,
    "rules/one.md": "one\n",
    "rules/deep/two.md": "two\n",
    "fixtures/app/README.md": "hello\n",
    "fixtures/other/README.md": "hello\n",
    "scenarios/S1-typo.yaml": SCENARIO,
    "scenarios/S2-other.yaml": SCENARIO.replace("fixture: app", "fixture: other"),
    "scenarios/S3-hidden.yaml": HIDDEN,
    "scenarios/files/x.txt": "x\n",
    "README.md": "prose\n",
}
CHANGES = {
    "nothing": {},
    "prose": {"README.md": "other\n"},
    "a result": {"AgentsReport/evaluation/2026-01/x.md": "x\n"},
    "a fixture": {"fixtures/other/README.md": "bye\n"},
    "a new file in a fixture": {"fixtures/app/new/file": "1\n"},
    "a removed fixture": {"fixtures/other/README.md": None},
    "a hidden file": {"scenarios/files/x.txt": "y\n"},
    "a subject": {"subjects/style/deep/new.md": "more\n"},
    "a subject with a suite": {"rules/one.md": "two\n"},
    "below a subject that does not reach there": {"rules/deep/two.md": "three\n"},
    "a title": {"scenarios/S1-typo.yaml": SCENARIO.replace("A typo", "Typo")},
    "a prompt": {"scenarios/S1-typo.yaml": SCENARIO.replace("Fix the typo", "Mend the typo")},
    "a new scenario": {"scenarios/S4-new.yaml": SCENARIO},
    "a removed scenario": {"scenarios/S1-typo.yaml": None},
    "a set of cases": {"scenarios/S5.yaml": "cases:\n" + "".join(f"  - id: c{n}\n" + "".join(
        f"    {line}\n" for line in SCENARIO.splitlines()) for n in (1, 2))},
    "the config": {"evalrepo.yaml": TWO.replace("golden: [S1]", "golden: [S2]")},
    "another tier": {"evalrepo.yaml": TWO.replace("{script: follows}}}", "{script: follows}, b: {script: good}}}")},
    "two at once": {"rules/one.md": "two\n", "scenarios/S1-typo.yaml": SCENARIO.replace("Fix", "Mend")},
}  # fmt: skip


def opened(repo) -> Repository:
    world = World(cwd=repo.path, environ=repo.environment(), now=lambda: datetime.now(UTC), random=bytes)
    return Repository.open(world)


def apply(repo, change) -> None:
    repo.write({path: text for path, text in change.items() if text is not None})
    for path in (path for path, text in change.items() if text is None):
        (repo.path / path).unlink()


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "in the work tree"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_paths_bound_is_what_all_digests_select(empty, change, committed):
    base = empty.commit(FILES)
    apply(empty, change)
    if committed and change:
        empty.git("add", "-A")
        empty.git("commit", "-qm", "change")
    repo = opened(empty)
    old, new = repo.tree(base), repo.tree("WORKTREE")
    everything = changed(Side(old, load(old)), Side(new, load(new)))
    files = concerned(repo, base)
    assert files is not None or "evalrepo.yaml" in change
    bounded = changed(Side(old, load(old, only=files)), Side(new, load(new, only=files)), files)
    assert bounded == everything
    if files is not None and not files:
        assert everything == {}


def test_a_fault_in_a_changed_scenario_is_not_passed_over(repo):
    repo.write({"scenarios/S1-typo.yaml": SCENARIO.replace("turns:", "turnz:")})
    assert "turnz" in repo.run("run", "--since", "HEAD", "--dry-run", exit=2)


def test_a_fault_at_the_base_is_no_hindrance(repo):
    repo.commit({"scenarios/S2.yaml": "title: [\n"})
    repo.commit({"scenarios/S2.yaml": SCENARIO})
    assert "the scenario is new" in repo.run("run", "--since", "HEAD~1", "--dry-run")


def test_where_nothing_is_touched_no_models_yaml_or_gitpython_are_loaded(repo):
    repo.run("run", "--since", "HEAD", "--dry-run")
    repo.commit({"README.md": "prose\n"})
    ask = "import sys; from evalrepo.cli import main\ntry: main(['run', '--since', 'HEAD~1', '--dry-run'])\nfinally: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", ask], cwd=repo.path, env=repo.environment(), capture_output=True, text=True, check=True
    )
    assert "no scenario is touched" in done.stdout
    heavy = {"pydantic", "ruamel", "git", "jsonschema", "tabulate", "rich", "regex", "jmespath"}
    assert not heavy & set(done.stdout.split())


def test_a_long_way_back_counts_only_commits_that_change_something(repo):
    for number in range(3):
        repo.commit({f"AgentsReport/evaluation/2026-01/{number}.md": "x\n"})
        repo.commit({"README.md": f"{number}\n"})
    found = since(opened(repo), "HEAD~3")
    assert (found.commit, found.passed_over) == (repo.git("rev-parse", "HEAD~5").strip(), 2)
