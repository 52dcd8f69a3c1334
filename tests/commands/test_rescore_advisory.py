"""A judge that was advisory when reps were recorded, and is calibrated now."""

from __future__ import annotations

from typing import Any

from tests.commands.conftest import Repo
from tests.commands.test_commands_calibrate import label, measured

__all__ = ["measured"]


def again(repo: Repo) -> list[dict[str, Any]]:
    """The records that were judged again, by scenario."""
    return sorted((r for r in repo.records() if r["rescored_from"]), key=lambda r: r["scenario"])


def word(record: dict[str, Any]) -> tuple[str, str, bool]:
    """Scenario, and of the judge's check the outcome and whether it gates."""
    (check,) = [c for c in record["reps"][0]["checks"] if c["id"] == "judged"]
    return record["scenario"], check["outcome"], check["gating"]


def test_the_reps_in_which_it_decides_now_are_recorded_anew_and_nothing_is_asked(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    measured.commit({}, "votes")
    said = measured.run("rescore")
    assert "4 reps judged again, 2 with another verdict" in said
    assert list(map(word, again(measured))) == [
        ("T0", "pass", True),
        ("T1", "pass", True),
        ("T2", "fail", True),
        ("T3", "fail", True),
    ]
    assert [one["spent"]["calls"] for r in again(measured) for one in r["reps"][0]["judged"]] == [0, 0, 0, 0]
    assert "4 reps judged by today's instrument already" in measured.run("rescore")
    assert len(measured.records()) == 8


def test_a_rule_that_lets_every_judge_decide_asks_nothing_either(measured: Repo):
    config = (measured.path / "evalrepo.yaml").read_text()
    measured.commit({"evalrepo.yaml": config.replace('"labels": 4', '"labels": 0')}, "every judge may decide")
    assert "4 reps judged again, 2 with another verdict" in measured.run("rescore")
    assert [gates for _, _, gates in map(word, again(measured))] == [True] * 4
