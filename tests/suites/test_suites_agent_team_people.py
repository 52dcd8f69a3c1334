"""S1 to S12 and people: what checks score, what a person gives, what falls, and what a gate makes of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.commands.conftest import Repo
from tests.suites.test_suites_agent_team import METRICS, copied

TWELVE = {f"S{number}" for number in range(1, 13)}
GATE = """\
gate:
  baseline: last-tag
  suites: [people]
  margin: 1
  metrics: {when: any}
"""
SUITE = 'suites:\n  people: {scenarios: ["S*"], agents: [scripted], tiers: [follows-the-wording]}\n'
OPEN = re.compile(r"^(M\d .*?): +0-3   evidence:$", re.MULTILINE)


def short(scenario: str) -> str:
    return scenario.partition("-")[0]


def run_the_suite(repo: Repo) -> None:
    """Twelve reps, on a machine that may be busy."""
    process = repo.start("run", "--suite", "people")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The suite, measured once at v1 and once after a change of wording; nobody has scored anything."""
    repo = copied(tmp_path_factory.mktemp("people"))
    config = (repo.path / "evalrepo.yaml").read_text()
    head = (
        config[: config.index("gate:")].replace("suites:\n", SUITE).replace("reps: 3\nbar: {passes: 2, of: 3}\n\n", "")
    )
    repo.commit({"evalrepo.yaml": f"{head}reps: 1\nbar: {{passes: 1, of: 1}}\n{GATE}"}, "one rep, every fall matters")
    run_the_suite(repo)
    repo.git("tag", "v1")
    role = "subjects/agent-team/agents/tester.md"
    repo.commit({role: (repo.path / role).read_text() + "\nBe brief.\n"}, "Ask the tester to be brief")
    run_the_suite(repo)
    return repo


@pytest.fixture
def team(measured: Repo, tmp_path: Path) -> Repo:
    """The same in a copy of its own."""
    for place in (measured.path, measured.home):
        shutil.copytree(place, tmp_path / place.name, symlinks=True)
    (tmp_path / "t").mkdir()
    return Repo(tmp_path / "repo", tmp_path / "home")


def runs(repo: Repo) -> list[str]:
    """The run at v1 and the run after the change."""
    return list(dict.fromkeys(r["run"] for r in sorted(repo.records(), key=lambda r: r["sequence"])))[:2]


def people_give(repo: Repo, run: str, scores: dict[tuple[str, str], int]) -> None:
    """Fill the template for a whole run: 3 everywhere, but for what is said here."""
    repo.run("score", run, "--export", "cards.txt")
    cards = []
    for card in (repo.path / "cards.txt").read_text().split("\n\n"):
        scenario = short(card.splitlines()[0].removeprefix("Scenario: "))

        def filled(line: re.Match[str], scenario: str = scenario) -> str:
            return f"{line[1]}: {scores.get((scenario, line[1][:2]), 3)}   evidence: line 3 of the log"

        cards.append(OPEN.sub(filled, card))
    (repo.path / "cards.txt").write_text("\n\n".join(cards))
    repo.run("score", "--import", "cards.txt")
    (repo.path / "cards.txt").unlink()


def fallen(shown: str) -> list[list[str]]:
    """Metric, scenario, scores and person of each fall that a diff lists."""
    rows = [re.match(r"(M\d) +(\S+) · \S+ +(\d) +(\d) +(-\d) +(.*)", line) for line in shown.splitlines()]
    return [list(row.groups()) for row in rows if row]


def human(record: dict) -> dict[str, int | None]:
    return {n: m["score"] for n, m in record["reps"][0]["metrics"].items() if m["source"] == "human"}


@pytest.mark.slow
def test_a_run_scores_what_can_be_counted_with_evidence_and_leaves_the_rest_to_people(measured):
    first, _ = runs(measured)
    records = [r for r in measured.records() if r["run"] == first]
    assert {short(r["scenario"]) for r in records} == TWELVE
    for record in records:
        (rep,) = record["reps"]
        assert set(rep["metrics"]) == METRICS
        counted = {n: m for n, m in rep["metrics"].items() if m["source"] == "mechanical"}
        assert {"M1", "M3", "M6"} <= set(counted)
        assert all(m["score"] in (0, 1, 2, 3) and m["evidence"] for m in counted.values())
        assert set(human(record)) == METRICS - set(counted)
        assert set(human(record).values()) == {None}
    left = {short(r["scenario"]): "".join(sorted(human(r))) for r in records}
    assert (left["S1"], left["S4"], left["S7"], left["S12"]) == ("M7", "M2M7", "M4M5", "M2M5M7")
    assert set("".join(left.values())) == set("M2457")
    assert sum(len(human(r)) for r in records) == 25


@pytest.mark.slow
def test_scores_through_the_template_are_read_back_and_a_fall_is_open_until_it_is_waived(team):
    before, after = runs(team)
    people_give(team, before, {("S4", "M2"): 2})
    people_give(team, after, {("S7", "M5"): 1, ("S12", "M5"): 2})
    shown = team.run("diff", "v1", "HEAD", "--suite", "people")
    rows = {line.split()[0]: line.split()[1:5] for line in shown.splitlines() if re.match(r"M\d +\d", line)}
    assert set(rows) == METRICS
    assert rows["M2"] == ["12", "2.92", "3.00", "+0.08"]
    assert rows["M5"] == ["12", "3.00", "2.75", "-0.25"]
    assert fallen(shown) == [
        ["M5", "S7-tool-failure", "3", "1", "-2", "Test Person"],
        ["M5", "S12-incomplete", "3", "2", "-1", "Test Person"],
    ]

    said = team.run("gate", exit=3)
    assert "OPEN  metric M5 fell from 3.00 to 2.75 over 12 cells" in said
    assert "investigate it, or waive it" in " ".join(said.split())
    assert said.count("OPEN") == 1

    team.run("waive", "M5", "--until", "2199-12-31", "--why", "the tester is cheaper now, and we accept what it misses")
    team.git("commit", "-qm", "Accept the fall of M5")
    assert "counts from the next release" in " ".join(team.run("gate", exit=3).split())
    waiver = team.git("rev-parse", "HEAD").strip()
    team.git("reset", "-q", "--hard", "HEAD~1")
    team.git("switch", "-q", "-c", "accepted", "v1")
    team.git("cherry-pick", waiver)
    team.git("tag", "v1.0.1")
    team.git("switch", "-q", "main")
    team.git("merge", "-q", "-m", "what is accepted", "v1.0.1")
    said = " ".join(team.run("gate").split())
    assert "metric M5 fell from 3.00 to 2.75 over 12 cells" in said
    assert "waived: the tester is cheaper now, and we accept what it misses (Test Person" in said
    assert "OPEN" not in said


@contextmanager
def terminal(repo: Repo, command: str) -> Iterator[Terminal]:
    """The command in a terminal of 80 × 24."""
    with TemporaryDirectory(prefix="tmux-") as sockets:
        at = Terminal(repo, sockets)
        at.tmux("new-session", "-d", "-s", "walk", "-x", "80", "-y", "24", f"cd {repo.path} && {command}; sleep 60")
        try:
            yield at
        finally:
            at.tmux("kill-server")


class Terminal:
    """A tmux of its own: a server that has just ended may still hold its socket, so each has another."""

    def __init__(self, repo: Repo, sockets: str) -> None:
        self.env = repo.environment() | {"TMUX_TMPDIR": sockets, "TERM": "xterm"}

    def tmux(self, *args: str) -> str:
        line = ["tmux", "-L", "people", "-f", "/dev/null", *args]
        done = subprocess.run(line, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait_for(self, words: str) -> str:
        """The screen, when it says this in its last lines."""
        for _ in range(900):
            screen = self.tmux("capture-pane", "-p", "-t", "walk")
            if words in "\n".join(screen.rstrip().splitlines()[-2:]):
                return screen
            time.sleep(0.1)
        raise AssertionError(screen)

    def type(self, text: str, then: str) -> str:
        self.tmux("send-keys", "-t", "walk", "-l", text)
        self.tmux("send-keys", "-t", "walk", "Enter")
        return self.wait_for(then)


@pytest.mark.slow
@pytest.mark.tmux
def test_scores_through_a_terminal_are_read_back_beside_the_previous_ones(team):
    before, after = runs(team)
    for run, agents in ((before, "3"), (after, "1")):
        with terminal(team, f"{sys.executable} -m evalrepo score {run} S7") as at:
            screen = at.wait_for("M4 (0-3,")
            assert "1 of 2 · S7-tool-failure rep 1" in screen
            assert all(len(line) <= 80 for line in screen.splitlines())
            at.type("2", "evidence (line N")
            at.type("it went well", "evidence (line N")
            at.type("“make is not installed”, as it says", "M5 (0-3,")
            at.type(agents, "evidence (line N")
            at.type("line 8 says that nobody else was needed", "committed:")
    shown = team.run("diff", "v1", "HEAD", "--suite", "people")
    assert fallen(shown) == [["M5", "S7-tool-failure", "3", "1", "-2", "Test Person"]]
    assert "OPEN  metric M5 fell from 3.00 to" in team.run("gate", exit=3)
    (last,) = [r for r in team.records() if r.get("supersedes") == after]
    assert human(last) == {"M4": 2, "M5": 1}
    assert last["reps"][0]["metrics"]["M4"]["evidence"] == "“make is not installed”, as it says"
