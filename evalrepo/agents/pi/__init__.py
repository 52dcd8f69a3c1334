"""pi, the coding agent of earendil-works: `@earendil-works/pi-coding-agent`."""

from __future__ import annotations

from evalrepo.agents.pi.places import native
from evalrepo.agents.pi.read import counter, read
from evalrepo.agents.pi.start import describe, launch, traits, version
from evalrepo.agents.pi.tools import uses, waiting

__all__ = ["counter", "describe", "launch", "native", "read", "traits", "uses", "version", "waiting"]
