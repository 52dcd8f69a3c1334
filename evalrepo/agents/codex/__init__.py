"""OpenAI's `codex`, headless: `codex exec --json`, its rollout files, and rehearsals of it."""

from evalrepo.agents.codex.read import counter, read
from evalrepo.agents.codex.speech import uses, waiting
from evalrepo.agents.codex.start import describe, launch, native, traits, version

__all__ = ["counter", "describe", "launch", "native", "read", "traits", "uses", "version", "waiting"]
