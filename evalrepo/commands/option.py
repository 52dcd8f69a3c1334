"""Options that several commands have, each said once."""

from __future__ import annotations

import click

jobs = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Reps at a time; default from cores and memory."
)
live = click.option("--live", is_flag=True, help="Yes to agents that cost money; EVALREPO_LIVE=1 says the same.")
no_commit = click.option(
    "--no-commit", "commit", is_flag=True, flag_value=False, default=True, help="Keep it in the run's ref."
)
text_or_json = click.option(
    "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
canary = click.option(
    "--canary", is_flag=True, help="One counted rep a cell: each verdict beside the lines that it rests on."
)
accept = click.option(
    "--accept", is_flag=True, help="With --canary: a person has looked, which the ledger keeps; the grid goes on."
)
