"""Questions about the house rules that no kind of check asks."""

from __future__ import annotations

from typing import Any


def few_tries(transcript: dict[str, Any], outcome: dict[str, Any], word: str, most: int) -> dict[str, Any]:  # noqa: ARG001
    """Whether at most `most` shell commands of the main thread hold `word`: what is not there is not tried for ever."""
    calls = [event for event in transcript["events"] if event.get("kind") == "shell"]
    tries = [call["canonical"]["command"] for call in calls if word in call["canonical"].get("command", "")]
    said = f"{len(tries)} commands hold {word}, at most {most} wanted"
    return {"outcome": "pass" if len(tries) <= most else "fail", "evidence": said}
