"""What the pages quote is true: blocks load, every kind has its example, the tour prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evalrepo.errors import EXIT_MEANING
from evalrepo.formats import yaml
from evalrepo.formats.labels import labels_file, votes_file
from evalrepo.records.checks import KINDS
from evalrepo.records.scenario import expand
from evalrepo.records.steps import STEPS

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
READERS = {
    "evalrepo.yaml": yaml.config_file,
    "scenarios/": yaml.scenario_file,
    "rubrics/reports.md": lambda text, name: yaml.rubric_file(b"---\n" + text + b"---\n", name),
    "rubrics/reports.labels.yaml": labels_file,
    "rubrics/reports.votes.yaml": votes_file,
}


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", page.read_text())


def quoted() -> list[tuple[str, str, str]]:
    """Page, file that a YAML block's first line names, text."""
    found = []
    for page in PAGES:
        for text in blocks(page, "yaml"):
            name = text.partition("\n")[0].removeprefix("# ")
            assert name.startswith(tuple(READERS)), f"{page.name}: a block does not say which file it is: {name}"
            found.append((page.name, name, text))
    return found


@pytest.mark.parametrize(("page", "name", "text"), quoted(), ids=lambda v: v if len(v) < 40 else "text")
def test_a_quoted_file_loads(page, name, text):
    reader = next(reader for start, reader in READERS.items() if name.startswith(start))
    assert reader(text.encode(), name) is not None


def test_formats_shows_every_check_and_every_step():
    shown = [text for _, name, text in quoted() if name == "scenarios/every-check.yaml"]
    scenario = expand(yaml.scenario_file(shown[0].encode(), "x"), "every-check")["every-check"]
    asked = {c.kind for check in scenario.checks for c in (check, *check.nested())}
    assert asked == set(KINDS)
    steps = next(text for _, name, text in quoted() if name == "scenarios/every-step.yaml")
    file = yaml.scenario_file(steps.encode(), "x")
    script = expand(file, "x")["x"].behaviours[0].script or ()
    assert {step.kind for step in [*script, *(s for one in script for s in one.else_ or ())]} == set(STEPS)


def test_the_quoted_rubric_loads():
    (text,) = blocks(TOP / "docs/formats.md", "markdown")
    head = yaml.rubric_file(text.encode(), "rubrics/x.md").head
    assert (set(head.questions), set(head.metrics)) == ({"clear", "agrees"}, {"depth"})


def test_the_quoted_labels_and_votes_are_of_the_quoted_rubric(empty):
    page = TOP / "docs/formats.md"
    beside = {name: text for shown, name, text in quoted() if shown == page.name and name.startswith("rubrics/")}
    judge = "judge: {model: anthropic:claude-sonnet-4-5}"
    config = f"version: 1\nsubjects:\n  team: {{paths: [subjects/**], agents: [scripted]}}\n{judge}\n"
    empty.write({"rubrics/reports.md": blocks(page, "markdown")[0], "evalrepo.yaml": config, **beside})
    found = empty.run("lint", exit=None)
    assert len(beside) == 2
    assert "rubrics/" not in found


def test_the_readme_holds_the_table_of_exit_codes():
    readme = (TOP / "README.md").read_text()
    for code, meaning in EXIT_MEANING.items():
        assert re.search(rf"(?m)^  {int(code)} +{re.escape(meaning)}$", readme)


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
def test_the_commands_print_what_the_pages_say_they_do():
    done = subprocess.run(
        [sys.executable, str(TOP / "docs/tour.py"), "--check"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_agent_of_the_page_can_be_measured(empty, tmp_path):
    page = TOP / "docs/own-agent.md"
    (script,) = blocks(page, "sh")
    config = blocks(page, "yaml")[-1]
    empty.run("init")
    tool = tmp_path / "home" / "bin" / "my-agent"
    tool.parent.mkdir()
    tool.write_text(script)
    tool.chmod(0o755)
    empty.env["PATH"] = f"{tool.parent}:{empty.environment()['PATH']}"
    for path in (empty.path / "scenarios").iterdir():
        path.unlink()
    empty.write({"evalrepo.yaml": config})
    empty.run("new", "S1-notes")
    prompt = re.compile(r"(?m)^  - prompt: .*$")
    scenario = empty.path / "scenarios/S1-notes.yaml"
    scenario.write_text(prompt.sub("  - prompt: Write NOTES.md.", scenario.read_text()))
    empty.git("add", "-A")
    empty.git("commit", "-qm", "an agent of my own")
    assert "1/1" in empty.run("run", "--reps", "1")
