"""A model's refusal in plain words: where in the file, what is wrong, what to write instead."""

from __future__ import annotations

import difflib
import re
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from evalrepo.errors import Finding, Place
from evalrepo.formats.hints import number_hint, said, shown, shown_path
from evalrepo.records.base import Plain

Key = str | int
_SCALAR_RULES = frozenset({"regex", "json_schema", "path", "name", "jmespath"})
_TYPES = {
    "text": "text",
    "string_type": "text",
    "whole_number": "a whole number",
    "number": "a number",
    "true_or_false": "true or false",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "is_instance_of": "a value of another kind",
}
_BOOLEAN_WORDS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


@dataclass(frozen=True)
class _Located:
    """An error against the data: the path that is there, what stands in it, the model around it, what is missing."""

    path: tuple[Key, ...]
    value: Any
    owner: Any
    """Annotation of the value that `path` leads to."""
    around: Any
    """Annotation of what holds it."""
    tail: tuple[Key, ...]
    union: int | None = None
    """How much of the path stands before the first union."""
    branch: Any = None
    is_key: bool = False


def findings(
    error: ValidationError, model: type[BaseModel], data: Any, where: Callable[[Sequence[Key]], Place], code: str
) -> list[Finding]:
    """One finding a fault, with codes `code` + 001 unknown key, 002 missing key, 003 wrong type, 004 wrong value,
    005 a rule between fields; of a union's refusals only those of the branch that was meant."""
    plain: list[tuple[dict[str, Any], _Located]] = []
    unions: dict[tuple[Key, ...], list[tuple[dict[str, Any], _Located]]] = defaultdict(list)
    for each in error.errors(include_url=False):
        found = _locate(model, data, each["loc"])
        target = plain if found.union is None else unions[found.path[: found.union]]
        target.append((dict(each), found))
    out: list[tuple[tuple[Key, ...], str, str, str]] = [_explain(e, f) for e, f in plain]
    for path, group in unions.items():
        out += _of_union(path, group, _at(data, path))
    short = {f.path for e, f in plain if e["type"] == "too_short"}
    broken = {path[: len(at)] for path, *_ in out for at in short if len(path) > len(at)}
    said = [one for one in out if one[0] not in short & broken]
    return sorted({Finding(where(path), f"{code}{number}", text, hint) for path, number, text, hint in said})


def _strip(annotation: Any) -> Any:
    """Without Annotated and without `| None`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        members = [a for a in get_args(annotation) if a is not type(None)]
        if len(members) == 1:
            return _strip(members[0])
    return annotation


def _members(annotation: Any) -> list[Any]:
    """Of a union that has more than one besides None; otherwise nothing."""
    annotation = _strip(annotation)
    if get_origin(annotation) not in (Union, types.UnionType):
        return []
    return [_strip(a) for a in get_args(annotation) if a is not type(None)]


def _locate(model: type[BaseModel], data: Any, loc: tuple[Key, ...]) -> _Located:
    annotation: Any = model
    around: Any = None
    value, union, branch, is_key = data, None, None, False
    path: list[Key] = []
    for position, step in enumerate(loc):
        members = _members(annotation)
        if members:
            annotation = _member(members, str(step))
            union, branch = (len(path), annotation) if union is None else (union, branch)
        elif step == "[key]":
            is_key = True
        elif isinstance(step, int) and not isinstance(value, list):
            annotation = _inner(annotation, step)
        elif (isinstance(value, dict) and step in value) or (isinstance(step, int) and step < len(value or ())):
            around, annotation = annotation, _inner(annotation, step)
            value = value[step]
            path.append(step)
        else:
            return _Located(tuple(path), value, annotation, around, loc[position:], union, branch)
    return _Located(tuple(path), value, annotation, around, (), union, branch, is_key)


def _member(members: list[Any], tag: str) -> Any:
    for member in members:
        name = getattr(member, "__name__", "")
        if name and (tag == name or tag.endswith(f", {name}]")):
            return member
    return next((m for m in members if get_origin(m) is Literal and tag.startswith("literal")), str)


def _inner(annotation: Any, step: Key) -> Any:
    annotation = _strip(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return fields(annotation).get(str(step))
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if arguments else None


def fields(model: Any) -> dict[str, Any]:
    """The keys a person may write for a model → annotation; none for what is no model."""
    model = _strip(model)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return {}
    return {info.alias or name: info.annotation for name, info in model.model_fields.items()}


def _at(data: Any, path: Iterable[Key]) -> Any:
    for step in path:
        data = data[step]
    return data


def _of_union(
    path: tuple[Key, ...], group: list[tuple[dict[str, Any], _Located]], value: Any
) -> list[tuple[tuple[Key, ...], str, str, str]]:
    models = list({f.branch: None for _, f in group if fields(f.branch)})
    if isinstance(value, dict) and models:
        meant = max(models, key=lambda m: len(fields(m).keys() & value.keys()))
        if len(models) > 1 and not fields(meant).keys() & value.keys():
            hint = _near(str(next(iter(value), "")), [k for m in models for k in fields(m)])
            return [(path, "004", f"{shown_path(path)} must be {_alternatives(group)}", hint)]
        return [_explain(e, f) for e, f in group if f.branch is meant]
    words = [w for _, f in group for w in _words(f.branch)]
    number = "004" if isinstance(value, str) and words else "003"
    text = f"{shown_path(path)} must be {_alternatives(group)}, got {shown(value)}"
    return [(path, number, text, _near(str(value), words) if isinstance(value, str) else "")]


def _alternatives(group: list[tuple[dict[str, Any], _Located]]) -> str:
    branches = [found.branch for _, found in group]
    words = [w for branch in branches for w in _words(branch)]
    texts = ["text" for branch in branches if not fields(branch) and not _words(branch)]
    mappings = ["a mapping with " + "/".join(list(fields(branch))[:4]) for branch in branches if fields(branch)]
    parts = list(dict.fromkeys([*words, *texts, *mappings]))
    return ", ".join(parts[:-1]) + " or " + parts[-1] if len(parts) > 1 else parts[0]


def _words(annotation: Any) -> list[str]:
    annotation = _strip(annotation)
    return [str(a) for a in get_args(annotation)] if get_origin(annotation) is Literal else []


def _near(word: str, known: Sequence[str], otherwise: str = "") -> str:
    lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(word.strip("_").lower(), list(lower), n=1, cutoff=0.6)
    return f'did you mean "{lower[near[0]]}"?' if near else otherwise


def _explain(error: dict[str, Any], at: _Located) -> tuple[tuple[Key, ...], str, str, str]:
    kind, name = str(error["type"]), shown_path(at.path)
    if kind == "extra_forbidden":
        return _unknown(at)
    if kind == "missing":
        return _missing(at)
    if kind in _TYPES:
        return (at.path, "003", f"{name} {_wrong_type(kind, at)}, got {shown(at.value)}", _type_hint(kind, at))
    if kind == "literal_error":
        return _wrong_word(error, at)
    text, number = said(kind, error, at.path)
    subject = f'the key "{at.path[-1]}"' if at.is_key and at.path else name
    if kind in _SCALAR_RULES or number == "004":
        return (at.path, "004", f"{subject} {text}", _value_hint(kind))
    return (at.path, number, f"{subject} {text}", "")


def _unknown(at: _Located) -> tuple[tuple[Key, ...], str, str, str]:
    key, inside = str(at.path[-1]), at.path[:-1]
    known = list(fields(at.around))
    hint = _near(key, [k for k in known if k != key], _rest_of_text(at, "known keys: " + ", ".join(known)))
    place = f" in {shown_path(inside)}" if inside else ""
    return at.path, "001", f'unknown key "{key}"{place}', hint


def _rest_of_text(at: _Located, known: str) -> str:
    """`{prompt: Do this, then that}`: after the comma YAML sees a key without a value."""
    if at.value is not None:
        return known
    if re.search(r"[^\w-]", str(at.path[-1])):
        return "inside { } a comma ends unquoted text: put the text in quotes"
    return f"{known}; text with a comma goes in quotes"


def _missing(at: _Located) -> tuple[tuple[Key, ...], str, str, str]:
    key = str(at.tail[-1])
    return at.path, "002", f'{shown_path(at.path)} lacks the key "{key}"', f"add `{key}: …`"


def _wrong_type(kind: str, at: _Located) -> str:
    wanted = _TYPES[kind]
    if kind == "number" and at.path and re.search(r"_s$|^sleep$", str(at.path[-1])):
        wanted = "a number of seconds"
    return f"must be {wanted}"


def _type_hint(kind: str, at: _Located) -> str:
    key = f"{at.path[-1]}: " if at.path and isinstance(at.path[-1], str) else ""
    if kind == "true_or_false":
        word = _BOOLEAN_WORDS.get(str(at.value).lower(), "")
        return f"{key}{word}" if word else f"{key}true or {key}false"
    if kind in ("number", "whole_number"):
        return number_hint(key, at.value, whole=kind == "whole_number")
    if kind == "text" and at.value is None:
        return "write the text, or remove the key"
    if kind in ("tuple_type", "list_type") and isinstance(at.value, str):
        return f"{key}[{at.value}]"
    return ""


def _wrong_word(error: dict[str, Any], at: _Located) -> tuple[tuple[Key, ...], str, str, str]:
    words = re.findall(r"'([^']*)'", str(error["ctx"]["expected"])) or [str(error["ctx"]["expected"])]
    if at.is_key:
        text = f'the key "{at.path[-1]}" in {shown_path(at.path[:-1])} must be {" or ".join(words)}'
        return at.path, "004", text, ""
    one = words[0] if len(words) == 1 else "one of " + ", ".join(words)
    value = str(at.value) if isinstance(at.value, Plain) else at.value
    hint = _near(value, words) if isinstance(value, str) else ""
    return at.path, "004", f"{shown_path(at.path)} must be {one}, got {shown(value)}", hint


def _value_hint(kind: str) -> str:
    return {
        "regex": "it is one of Python's `regex` module; single quotes keep its backslashes as they are",
        "path": "write it from the top of the tree, with /, without .. and without a / in front",
        "name": "letters, digits, '.', '_' and '-' only, at most 80, a letter or digit first",
        "json_schema": "see json-schema.org, draft 2020-12",
        "jmespath": "see jmespath.org; names with special characters go in double quotes",
    }.get(kind, "")
