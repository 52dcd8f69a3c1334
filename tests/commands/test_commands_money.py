"""What a run may spend: limits on USD and on reps, estimates from what is recorded, unknown costs."""

from __future__ import annotations

import os

import pytest

from evalrepo.agents.tested import was_tested
from evalrepo.records.planning import Price
from evalrepo.render.planning import estimate_text

from .conftest import CONFIG, SCENARIO, WORLD, Repo

PAYER = r"""#!/bin/sh
# payer COST PROMPT: mends the README and says what it cost; COST none says nothing, broken is a network error
case "$1" in
  none) usage='{"input_tokens": 5}';;
  broken) usage='{"cost_usd": 0.25}';;
  *) usage="{\"cost_usd\": $1}";;
esac
cat README.md > /dev/null
echo hallo > README.md
cat <<ROWS
{"type": "session", "session": "one", "cwd": "$PWD", "version": "1"}
{"type": "prompt", "text": "$2"}
{"type": "tool_call", "id": "1", "tool": "read", "args": {"path": "README.md"}}
{"type": "tool_result", "id": "1", "text": "hello"}
{"type": "tool_call", "id": "2", "tool": "edit", "args": {"path": "README.md"}}
{"type": "tool_result", "id": "2", "text": "done"}
{"type": "assistant", "text": "Done.", "usage": $usage}
ROWS
[ "$1" = broken ] && echo '{"type": "error", "kind": "network", "message": "503"}' && exit 1
echo '{"type": "end", "reason": "done"}'
"""
AGENTS = """\
agents:
  scripted: {tiers: {default: {script: follows}}}
  payer:
    kind: command
    argv: [payer, "{model}", "{prompt}"]
    version: [echo, "9"]
    paid: true
    tiers:
      cheap: {model: "0.5"}
      silent: {model: none}
      broken: {model: broken}
"""
PAID = CONFIG.replace("agents:\n  scripted: {tiers: {default: {script: follows}}}\n", AGENTS)
PAID = PAID.replace("suites:\n", 'suites:\n  paid: {scenarios: ["*"], agents: [payer], tiers: [cheap]}\n')
SECOND = SCENARIO.replace("title: A typo", "title: Another typo")


@pytest.fixture
def paid(repo: Repo) -> Repo:
    """Two scenarios and an agent that costs half a dollar a rep, with consent."""
    tool = repo.home / "bin" / "payer"
    tool.parent.mkdir()
    tool.write_text(PAYER)
    tool.chmod(0o755)
    repo.env = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "EVALREPO_LIVE": "1"}
    repo.commit({**WORLD, "evalrepo.yaml": PAID, "scenarios/S2.yaml": SECOND}, "an agent that costs money")
    return repo


def run(repo: Repo, *args: str, tier: str = "cheap", exit: int | None = 0):  # noqa: A002
    return repo.json("run", "--agent", "payer", "--tier", tier, "--jobs", "1", *args, exit=exit)


def test_no_rep_starts_once_the_money_is_spent_and_the_rest_is_said(paid: Repo):
    done = run(paid, "--max-cost", "0.75", exit=3)
    assert len(paid.reps()) == 2
    assert done["spent"] == {
        "max_usd": 0.75,
        "max_reps": None,
        "attempts": 2,
        "usd": 1.0,
        "unpriced": 0,
        "judge_usd": 0.0,
        "stopped": "usd",
    }
    assert [(c["scenario"], c["valid"], c["left"]) for c in done["cells"]] == [("S1-typo", 1, 2), ("S2", 1, 2)]
    text = paid.run("run", "--agent", "payer", "--tier", "cheap", "--max-cost", "0.75", "--jobs", "1", exit=3)
    assert "limit: 0.75 USD; what is at work when it is reached goes on to its end" in text
    assert "spent: 1.00 of 0.75 USD, 2 attempts; stopped, --max-cost is spent" in text
    assert "next: the same command goes on where it stopped; a limit is of one run" in text
    assert "run: 2 cells are without all reps, by the limit (exit 3)" in text
    assert run(paid, "--max-cost", "100")["spent"]["stopped"] == ""
    assert len(paid.reps()) == 6


def test_reps_are_limited_and_the_same_command_goes_on(paid: Repo):
    assert run(paid, "--max-reps", "4", exit=3)["spent"]["stopped"] == "reps"
    assert len(paid.reps()) == 4
    assert run(paid, "--max-reps", "4")["spent"] == {
        "max_usd": None,
        "max_reps": 4,
        "attempts": 2,
        "usd": 1.0,
        "unpriced": 0,
        "judge_usd": 0.0,
        "stopped": "",
    }


def test_failed_attempts_cost_money_and_count(paid: Repo):
    done = run(paid, "S1", "--reps", "1", "--max-cost", "0.5", tier="broken", exit=4)
    assert (done["spent"]["usd"], done["spent"]["attempts"]) == (0.5, 2)
    assert [(attempt, verdict) for _, _, _, attempt, verdict in paid.reps()] == [(1, "ERROR"), (2, "ERROR")]


def test_a_limit_in_money_stops_at_the_first_rep_that_does_not_say_its_cost(paid: Repo):
    text = paid.run("run", "--agent", "payer", "--tier", "silent", "--max-cost", "9", "--jobs", "1", exit=3)
    said = " ".join(text.split())
    assert "payer/silent has no recorded rep that says what one costs; the run stops after the first rep" in said
    assert "without known costs --max-cost cannot be kept, --max-reps N can" in said
    assert len(paid.reps()) == 1
    said = " ".join(paid.run("run", "--agent", "payer", "--tier", "silent", "--max-cost", "9", exit=2).split())
    assert "--max-cost cannot be kept: payer/silent has 1 recorded rep and none says what it cost" in said
    assert "--max-reps N limits the reps instead, or as well" in said
    done = run(paid, "--max-cost", "9", "--max-reps", "2", tier="silent", exit=3)
    assert (done["spent"]["stopped"], done["spent"]["unpriced"], len(paid.reps())) == ("reps", 2, 3)


def test_the_plan_says_what_it_would_cost_by_what_is_recorded(paid: Repo):
    before = run(paid, "--dry-run")
    assert before["estimate"] == {"reps": 6, "usd": 0, "unpriced": 6, "seconds": 0, "untimed": 6, "jobs": 1}
    assert [c["usd"] for c in before["cells"]] == [None, None]
    text = paid.run("run", "--agent", "payer", "--tier", "cheap", "--dry-run")
    assert "estimate: nothing is recorded of what these reps cost or how long they take" in text
    run(paid, "S1")
    after = run(paid, "--reps", "5", "--dry-run")
    assert [(c["scenario"], c["usd"], c["run"]) for c in after["cells"]] == [("S1-typo", 0.5, 2), ("S2", 0.5, 5)]
    assert (after["estimate"]["usd"], after["estimate"]["unpriced"]) == (3.5, 0)
    assert after["estimate"]["seconds"] > 0
    text = paid.run("run", "--agent", "payer", "--tier", "cheap", "--reps", "5", "--dry-run")
    assert "estimate: 3.50 USD," in text
    assert all(len(line) <= 80 for line in text.splitlines())
    model_free = paid.json("run", "--agent", "scripted", "--dry-run")
    assert (model_free["estimate"]["usd"], model_free["estimate"]["unpriced"]) == (0, 0)


def test_two_sides_share_one_limit(paid: Repo):
    paid.commit({"subjects/style/GUIDE.md": "Another guide.\n"})
    plan = run(paid, "--against", "HEAD~1", "--dry-run")
    assert (plan["to_run"], plan["estimate"]["unpriced"]) == (12, 12)
    done = run(paid, "--against", "HEAD~1", "--max-reps", "3", exit=3)
    assert (done["spent"]["attempts"], len(paid.reps())) == (3, 3)
    assert sum(c["left"] for c in done["cells"]) == 9
    said = paid.run(
        "run", "--agent", "payer", "--tier", "cheap", "--against", "HEAD~1", "--max-reps", "2", "--jobs", "1", exit=3
    )
    assert "spent: 1.00 USD, 2 of 2 attempts; stopped, --max-reps is used up" in said


def test_plan_and_a_dry_run_of_both_sides_name_one_price(paid: Repo):
    run(paid)
    paid.git("tag", "v1")
    paid.commit({"subjects/style/GUIDE.md": "Another guide.\n"})
    run(paid, "S1", "--reps", "1")
    [option] = paid.json("plan", "paid", "--reps", "5")["plan"]["options"]
    here, base = option["price"], option["base"]
    assert (here["reps"], here["usd"], base["reps"], base["usd"]) == (9, 4.5, 4, 2.0)
    both = paid.json("run", "--suite", "paid", "--reps", "5", "--against", "v1", "--dry-run")["estimate"]
    assert (both["reps"], both["usd"], both["unpriced"]) == (13, 6.5, 0)
    assert both["seconds"] == pytest.approx(here["seconds"] + base["seconds"])


def test_a_limit_on_the_side_that_is_measured_against_is_the_answer_too(paid: Repo):
    paid.git("tag", "v1")
    paid.commit({"subjects/style/GUIDE.md": "Another guide.\n"})
    run(paid, "S1")
    said = paid.run(
        "run", "S1", "--agent", "payer", "--tier", "cheap", "--against", "v1", "--max-reps", "1", "--jobs", "1", exit=3
    )
    assert "run: 1 cell is without all reps, by the limit (exit 3)" in said
    assert "evalrepo diff" not in said


def test_json_has_a_price_and_what_was_spent_where_nothing_is_to_be_run_too(repo: Repo):
    assert repo.json("plan")["plan"]["cells"][0]["usd"] == 0
    repo.run("run")
    assert repo.json("run", "--max-reps", "2")["spent"]["attempts"] == 0
    assert repo.json("run", "--since", "HEAD")["spent"]["attempts"] == 0
    assert repo.json("run", "--since", "HEAD", "--dry-run")["estimate"]["reps"] == 0


def test_a_limit_that_is_no_amount_is_refused(repo: Repo):
    for value in ("0", "-1", "nan", "much"):
        assert "--max-cost" in repo.run("run", "--max-cost", value, exit=2)
    assert "--max-reps" in repo.run("run", "--max-reps", "0", exit=2)


def test_scripted_reps_cost_nothing_and_fit_any_limit(repo: Repo):
    assert repo.json("run", "--max-cost", "0.01")["spent"]["usd"] == 0


def test_part_of_the_price_is_unknown_where_part_of_it_is_recorded():
    (line, *_) = estimate_text(Price(6, 1.5, 2, 300.0, 0), 2)
    assert line.startswith("estimate: ≥ 1.50 USD, 2 min with 2 reps at a time")
    assert "(cost of 2 unknown)" in " ".join(estimate_text(Price(6, 1.5, 2, 300.0, 0), 2))


@pytest.mark.parametrize(
    ("version", "known", "expected"),
    [
        ("2.1.332 (Claude Code)", ("2.1",), True),
        ("2.11.0", ("2.1",), False),
        ("codex-cli 0.171.0", ("0.171.0",), True),
        ("1.6.0", (), True),
        ("", ("1",), False),
    ],
)
def test_a_version_is_known_by_itself_or_by_its_first_numbers(version, known, expected):
    assert was_tested(version, known) is expected
