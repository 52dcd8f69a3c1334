"""Verdicts, metrics and judges: from the facts of a rep to what its record says. Pure but for a judge's process."""
