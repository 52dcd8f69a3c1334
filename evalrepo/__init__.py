"""Evals as data in git."""

__version__ = "0.1.0"
