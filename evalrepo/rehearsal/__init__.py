"""Rehearsals: the real CLI against a scripted model server, which speaks the vendors' protocols on loopback."""

from evalrepo.rehearsal.book import Asked
from evalrepo.rehearsal.play import Part
from evalrepo.rehearsal.server import ModelServer

__all__ = ["Asked", "ModelServer", "Part"]
