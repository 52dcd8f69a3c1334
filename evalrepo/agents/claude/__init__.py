"""Claude Code: the CLI `claude`, headless."""

from __future__ import annotations

from evalrepo.agents.claude.keep import counter, native
from evalrepo.agents.claude.read import read
from evalrepo.agents.claude.start import describe, launch, traits, version
from evalrepo.agents.claude.tools import uses, waiting

__all__ = ["counter", "describe", "launch", "native", "read", "traits", "uses", "version", "waiting"]
