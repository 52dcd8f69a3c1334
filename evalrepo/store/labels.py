"""Labels and votes beside a rubric: read from a tree, and added to in the work tree."""

from __future__ import annotations

from evalrepo.formats.labels import dump_labels, dump_votes, labels_file, votes_file
from evalrepo.records.labels import Label, Labels, Voted, Votes
from evalrepo.repository.durable import put
from evalrepo.repository.repo import Repository
from evalrepo.repository.tree import Tree


def labels_path(rubric: str) -> str:
    """Where people's labels of a rubric stand."""
    return f"rubrics/{rubric}.labels.yaml"


def votes_path(rubric: str) -> str:
    """Where judges' votes on labelled reps stand."""
    return f"rubrics/{rubric}.votes.yaml"


def labels_of(tree: Tree, rubric: str) -> tuple[Label, ...]:
    """The labels of a rubric; none when there is no file. Raises DataError."""
    path = labels_path(rubric)
    return labels_file(tree.read(path), path).labels if path in tree else ()


def votes_of(tree: Tree, rubric: str) -> tuple[Voted, ...]:
    """The votes of a rubric; none when there is no file. Raises DataError."""
    path = votes_path(rubric)
    return votes_file(tree.read(path), path).votes if path in tree else ()


def add_label(repo: Repository, rubric: str, label: Label) -> None:
    """Put a label into the file of the work tree, in place of one that the same person gave the same rep before.

    It is on the medium when this returns.
    """
    path = repo.top / labels_path(rubric)
    held = labels_file(path.read_bytes(), labels_path(rubric)).labels if path.is_file() else ()
    key = (label.question, label.transcript, label.by)
    kept = [one for one in held if (one.question, one.transcript, one.by) != key]
    put(path, dump_labels(Labels(labels=(*kept, label))))


def put_votes(repo: Repository, rubric: str, votes: tuple[Voted, ...]) -> None:
    """Write all votes of a rubric into the work tree."""
    put(repo.top / votes_path(rubric), dump_votes(Votes(votes=votes)))
