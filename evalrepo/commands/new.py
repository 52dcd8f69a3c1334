"""`evalrepo new`: write a scenario from a template."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from evalrepo.commands.init import write
from evalrepo.errors import DataError, Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store.loading import Loaded
    from evalrepo.world import World

TEMPLATES = {
    "task": "an outcome is checked (the default)",
    "control": "a negative control: the behaviour must not appear",
    "delegate": "work for sub-agents, with their models",
    "handoff": "a turn that is cut short, and a new session",
    "fault": "a program that is missing or fails",
    "prompt-set": "many cases in one file, with a trigger",
}
"""Template → what it is for."""


@dataclass(frozen=True)
class Wanted:
    """The command line of `new`."""

    id: str
    subjects: tuple[str, ...]
    fixture: str | None
    reserve_of: str | None
    template: str | None


@dataclass(frozen=True)
class Written:
    """The new file, what to know about it, and the commands that come next."""

    path: str
    notes: tuple[str, ...]
    next: tuple[str, ...]


@click.command("new", epilog="Templates: " + "; ".join(f"{name}: {what}" for name, what in TEMPLATES.items()) + ".")
@click.argument("id_", metavar="ID")
@click.option("--subject", "subjects", multiple=True, metavar="NAME", help="What is under test; default: the only one.")
@click.option("--fixture", metavar="NAME", help="The work tree, fixtures/NAME/; default: an empty directory.")
@click.option("--reserve-of", metavar="ID", help="Write the held-out twin of this scenario, beginning with its text.")
@click.option("--prompt-set", is_flag=True, help="The same as --from prompt-set.")
@click.option("--from", "template", type=click.Choice(list(TEMPLATES)), help="Which template.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World,
    *,
    id_: str,
    subjects: tuple[str, ...],
    fixture: str | None,
    reserve_of: str | None,
    prompt_set: bool,
    template: str | None,
    format_: str,
) -> int:
    """Write scenarios/ID.yaml (a twin: scenarios-reserve/ID.yaml) that passes lint, for you to change.

    Its comments explain each field. A file that exists is never written over.
    """
    if prompt_set and template not in (None, "prompt-set"):
        raise UsageError(f"--prompt-set and --from {template} do not go together", hint="say one of them")
    if reserve_of is not None and (prompt_set or template or fixture or subjects):
        raise UsageError(
            "--reserve-of begins with the text of that scenario", hint="leave out --from, --subject and --fixture"
        )
    wanted = Wanted(id_, subjects, fixture, reserve_of, "prompt-set" if prompt_set else template)
    written = create(world, wanted)
    click.echo(json.dumps({"schema": 1, **asdict(written)}, indent=2) if format_ == "json" else _text(written))
    return Exit.YES


def create(world: World, wanted: Wanted) -> Written:
    """Write the file. UsageError for a bad or taken id, DataError when evalrepo.yaml cannot be used."""
    from evalrepo.repository.repo import Repository
    from evalrepo.store import load

    repo = Repository.open(world)
    tree = repo.tree("WORKTREE")
    loaded = load(tree, repo)
    broken = [f for f in loaded.findings if f.place.file == "evalrepo.yaml" and not f.warning]
    if broken:
        raise DataError(broken)
    folder = "scenarios" if wanted.reserve_of is None else "scenarios-reserve"
    path = f"{folder}/{wanted.id}.yaml"
    _free(repo, loaded, wanted.id)
    text = _from_template(tree, loaded, wanted) if wanted.reserve_of is None else _twin(world, tree, loaded, wanted)
    if not write(repo.top, path, text.encode()):
        raise _taken(path)
    return Written(path, tuple(_notes(loaded, wanted)), _next(path, wanted))


def _free(repo: Repository, loaded: Loaded, id_: str) -> None:
    """UsageError for an id that is bad, or taken by a file of either set in whatever case of letters."""
    from pydantic import TypeAdapter, ValidationError

    from evalrepo.records.base import Name

    try:
        TypeAdapter(Name).validate_python(id_)
    except ValidationError as error:
        hint = "an id is the file's name without folder and .yaml; it begins with a letter or digit"
        raise UsageError(f"the id {error.errors()[0]['msg']}", hint=hint) from None
    if id_.lower().endswith((".yaml", ".yml")):
        raise UsageError(f'the id "{id_}" ends like a file', hint=f"evalrepo new {id_.rpartition('.')[0]}")
    for other in loaded.scenarios.values():
        if other.id.partition("/")[0].lower() == id_.lower():
            raise _taken(other.path)
    for folder in ("scenarios", "scenarios-reserve"):
        there = repo.top / folder
        for found in there.glob("*.yaml") if there.is_dir() else ():
            if found.stem.lower() == id_.lower():
                raise _taken(f"{folder}/{found.name}")


def _taken(path: str) -> UsageError:
    return UsageError(f"{path} is there already", hint="choose another id; evalrepo list shows those that are taken")


def _from_template(tree: Tree, loaded: Loaded, wanted: Wanted) -> str:
    from importlib.resources import files

    place = files("evalrepo.commands") / "templates" / "new" / f"{wanted.template or 'task'}.yaml"
    text = place.read_text("utf-8")
    subjects = wanted.subjects or _only_subject(loaded)
    for name in subjects:
        if name not in loaded.config.subjects:
            raise _no_such("subject", name, list(loaded.config.subjects), "add it to `subjects:` in evalrepo.yaml")
    named = subjects[0] if len(subjects) == 1 else f"[{', '.join(subjects)}]"
    text = _with_scripts(text, _scripts(loaded))
    for key, value in {
        "ID": wanted.id,
        "SUBJECT": _line("subject", named, "what is under test, from evalrepo.yaml; one name or a list"),
        "TWIN": _line("# twin", f"{wanted.id}-reserve", "its held-out twin, in scenarios-reserve/"),
        "FIXTURE": _fixture(tree, wanted.fixture),
    }.items():
        text = text.replace(f"@{key}@", value)
    return text


def _only_subject(loaded: Loaded) -> tuple[str, ...]:
    names = tuple(loaded.config.subjects)
    if len(names) == 1:
        return names
    if names:
        raise UsageError(f"which subject? there are {', '.join(names)}", hint=f"--subject {names[0]}")
    raise UsageError("evalrepo.yaml has no subject", hint="add what is under test to `subjects:`")


def _no_such(what: str, name: str, known: Sequence[str], otherwise: str) -> UsageError:
    from evalrepo.linting.ground import near

    return UsageError(f'there is no {what} "{name}"', hint=near(name, known, otherwise))


def _fixture(tree: Tree, name: str | None) -> str:
    if name is None:
        return _line("# fixture", "NAME", "a work tree, fixtures/NAME/; without it an empty directory")
    known = sorted({path.split("/")[1] for path in tree.under("fixtures") if path.count("/") > 1})
    if name not in known:
        raise _no_such("fixture", name, known, f"put its files below fixtures/{name}/ first")
    return _line("fixture", name, "a work tree, copied fresh for every rep")


def _line(key: str, value: str, comment: str) -> str:
    return f"{key}: {value}".ljust(33) + f" # {comment}"


def _scripts(loaded: Loaded) -> list[str]:
    """Names of the scripts that tiers of the scripted agent play."""
    agent = loaded.config.agents.get("scripted")
    return [] if agent is None else list(dict.fromkeys(t.script for t in agent.tiers.values() if t.script))


def _with_scripts(text: str, names: Sequence[str]) -> str:
    """One behaviour for each name: a scenario without the script of a tier would be left out of that tier's runs."""
    before, heading, item = text.partition("\nbehaviours:\n")
    chosen = names or ["as-asked"]
    items = [item.replace("@SCRIPT@", name) for name in chosen]
    return before.replace("@SCRIPT@", chosen[0]) + heading + "".join(items)


def _twin(world: World, tree: Tree, loaded: Loaded, wanted: Wanted) -> str:
    """The run-set scenario's own text under a head of its own, with `twin` and `tripwire`."""
    from evalrepo.store import select_ids

    assert wanted.reserve_of is not None
    found = [loaded.scenarios[i] for i in select_ids(loaded, [wanted.reserve_of])]
    if len(found) != 1 or found[0].case:
        raise UsageError(
            f"{wanted.reserve_of} is a prompt set; only a scenario of its own has a twin written for it",
            hint="copy the file to scenarios-reserve/ and give each case there its `twin:`",
        )
    one = found[0]
    body = re.sub(r"\A(?:#.*\n)+", "", tree.read(one.path).decode("utf-8-sig").replace("\r\n", "\n"))
    body = re.sub(r"(?m)^(?:twin|tripwire)\s*:.*\n?", "", body)
    if not re.search(r"(?m)^title\s*:", body):
        raise UsageError(f"{one.path} does not begin its keys in the first column", hint="copy and change it by hand")
    wire = uuid.UUID(bytes=world.random(16), version=4)
    return (
        f"# {wanted.id}: the held-out twin of {one.id}. It begins as a copy: now ask the same with other words,\n"
        "# another fixture, other names, so that wording which only fits the run-set shows.\n"
        f"# Then git add it and evalrepo freeze. Nobody looks at it again while wording is tuned.\n"
        f"twin: {one.id}\n"
        f"tripwire: {wire}   # must appear nowhere else: where it does, reserve text has leaked\n"
        f"{body}"
    )


def _notes(loaded: Loaded, wanted: Wanted) -> list[str]:
    from evalrepo.store import select_ids
    from evalrepo.store.choose import alias, stem

    notes = []
    if wanted.reserve_of is not None:
        one = loaded.scenarios[select_ids(loaded, [wanted.reserve_of])[0]]
        if one.scenario.twin != wanted.id:
            notes.append(f"add to {one.path}: twin: {wanted.id}")
    else:
        short = alias(wanted.id)
        others = {stem(i) for i in loaded.of_set("run-set") if alias(i) == short}
        if len(others) == 1:
            (other,) = others
            notes.append(f"{short} is no alias of {other} any more; write whole ids in evalrepo.yaml")
    return notes


def _next(path: str, wanted: Wanted) -> tuple[str, ...]:
    if wanted.reserve_of is not None:
        return ("evalrepo lint", f"evalrepo selftest {wanted.id}", f"git add {path} && evalrepo freeze")
    return ("evalrepo lint", f"evalrepo selftest {wanted.id}", f"evalrepo run {wanted.id}")


def _text(written: Written) -> str:
    from evalrepo.render.safe import safe

    notes = [f"note: {safe(note)}" for note in written.notes]
    return "\n".join([f"wrote {written.path}", *notes, "", "change it, then:", *(f"  {step}" for step in written.next)])
