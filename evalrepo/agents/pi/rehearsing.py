"""What points pi to a model server in a rehearsal: `models.json`, keys, and sub-agents for those who bring none."""

from __future__ import annotations

import json
import re
from typing import Any

from evalrepo.agents.base import Box, Endpoint, place
from evalrepo.agents.pi.places import AGENTS, EXTENSIONS, HOME
from evalrepo.agents.pi.tools import DEFAULT_AGENT

PROVIDER = "rehearsal"
MODEL = f"{PROVIDER}/model"
"""What a rehearsal asks for when the tier names no model: chat completions, which most of pi's providers speak."""

PRICE = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}
"""US dollars for a million tokens of a model that pi does not know."""

_THINKING = re.compile(r":(off|minimal|low|medium|high|xhigh|max)$")
_AGENT = f"""---
name: {DEFAULT_AGENT}
description: Does any task that needs no specialist.
---
Do the task.
"""


def keys(endpoint: Endpoint) -> dict[str, str]:
    """The variables that every provider in `models` takes its key from."""
    return {"ANTHROPIC_API_KEY": endpoint.key, "OPENAI_API_KEY": endpoint.key}


def prepare(box: Box, endpoint: Endpoint, model: str) -> None:
    """Put `models.json` into HOME, in place of any other, and a sub-agent for scripts that name none."""
    place(box, f"{HOME}/models.json", json.dumps({"providers": providers(endpoint, model)}, indent=1).encode())
    if not (box.home / AGENTS / f"{DEFAULT_AGENT}.md").exists():
        place(box, f"{AGENTS}/{DEFAULT_AGENT}.md", _AGENT.encode())


def providers(endpoint: Endpoint, model: str) -> dict[str, Any]:
    """Who answers: for Anthropic's models its own protocol, for OpenAI's responses (both as pi does it by itself),
    for the model of the tier, if it is of any other provider or of OpenAI, chat completions."""
    own = f"{endpoint.url}/v1"
    found: dict[str, Any] = {"anthropic": {"baseUrl": endpoint.url}, "openai": {"baseUrl": own}}
    provider, _, name = _THINKING.sub("", model).partition("/")
    if provider != "anthropic":
        asked = {"id": name, "api": "openai-completions", "cost": PRICE}
        found[provider] = {"baseUrl": own, "apiKey": "$OPENAI_API_KEY", "models": [asked]}
    return found


def has_extensions(box: Box) -> bool:
    """Whether pi will find extensions in HOME by itself."""
    folder = box.home / EXTENSIONS
    return folder.is_dir() and any(folder.iterdir())
