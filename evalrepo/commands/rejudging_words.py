"""What judges said of recorded reps, out of all records of them and the references of their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from evalrepo.errors import DataError

if TYPE_CHECKING:
    from evalrepo.commands.rejudging import Rejudging
    from evalrepo.commands.rejudging_parts import Task
    from evalrepo.records.judgement import Judgement
    from evalrepo.records.record import Record, Rep
    from evalrepo.repository.tree import Tree
    from evalrepo.running.kept import Files
    from evalrepo.running.words import Words


def words_of(judging: Rejudging, task: Task) -> Callable[[Rep, Files], Words]:
    """Rep and its files → what a judge that is asked as today's said of it, the newest word first."""
    from evalrepo.running.kept import folder_of
    from evalrepo.running.words import Words

    @cache
    def known() -> list[Record]:
        return [one for one in _records(judging, task) if _same_judge(judging, task, one)]

    @cache
    def trees() -> list[Tree]:
        runs = dict.fromkeys(row.run for row in task.group if row.run != row.executed)
        return [tree for run in runs if (tree := judging.kept(run)) is not None]

    def words(rep: Rep, files: Files) -> Words:
        said: list[Judgement] = []
        for record in known():
            said += [one for other in record.reps if _place(other) == _place(rep) for one in other.judged]
        root = folder_of(rep.transcript.path) if rep.transcript is not None else ""

        def text(path: str) -> bytes | None:
            if path in files:
                return files[path]
            return next((tree.read(root + path) for tree in trees() if root + path in tree), None)

        return Words(tuple(said), text)

    return words


def _place(rep: Rep) -> tuple[int, int]:
    return rep.rep, rep.attempt


def _records(judging: Rejudging, task: Task) -> list[Record]:
    from evalrepo.results import records

    try:
        return records(judging.rows.git, list(task.group))
    except DataError:
        return [task.record]


def _same_judge(judging: Rejudging, task: Task, record: Record) -> bool:
    """Whether who is asked, and how, is as it was; what only decides whether answers count may be another."""
    from evalrepo.running.judging import how_asked

    if record.digests.parts.get("instrument", {}).get("judge") == task.now.parts["instrument"]["judge"]:
        return True
    if record.rescored_from or any(one.override for rep in record.reps for one in rep.judged):
        return False
    then = judging.measured(judging.kept(record.run))
    return then is not None and how_asked(then.config.judge) == how_asked(judging.place.config.judge)
