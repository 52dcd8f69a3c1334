"""The model base and the scalar types of everything that a person writes in YAML.

YAML decides early what `1.10`, `no` or `2026-07-06` is; a model decides late. The loader therefore hands over
plain scalars as `Plain` (text that remembers its YAML value), and each field takes the side it is declared for:
`Text` the text as written, `Int`, `Number`, `Bool` and `Json` the value.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import regex
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError


class Plain(str):
    """A plain YAML scalar that is not text in YAML 1.2: its spelling, and the value YAML gives it."""

    __slots__ = ("value",)
    value: bool | int | float

    def __new__(cls, spelling: str, value: bool | float) -> Plain:
        self = super().__new__(cls, spelling)
        self.value = value
        return self


class Model(BaseModel):
    """Frozen and closed: an unknown key is an error, a value never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, ser_json_inf_nan="constants")


def plain_value(value: Any) -> Any:
    """The value of a YAML document with every `Plain` replaced by what YAML 1.2 says it is."""
    if isinstance(value, Plain):
        return value.value
    if isinstance(value, dict):
        return {str(k): plain_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(v) for v in value]
    return value


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    raise PydanticCustomError("text", "must be text, got {got}", {"got": describe(value)})


def _integer(value: Any) -> Any:
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("whole_number", "must be a whole number, got {got}", {"got": describe(value)})
    return value


def _number(value: Any) -> Any:
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PydanticCustomError("number", "must be a number, got {got}", {"got": describe(value)})
    return float(value)


def _boolean(value: Any) -> Any:
    value = plain_value(value)
    if not isinstance(value, bool):
        raise PydanticCustomError("true_or_false", "must be true or false, got {got}", {"got": describe(value)})
    return value


def describe(value: Any) -> str:
    """How an error names what it got: short, quoted, one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value) if isinstance(value, bool | int | float) else '"' + str(value).replace("\n", "\\n") + '"'
    return text if len(text) <= 60 else text[:57] + '…"'


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _compiles(value: str) -> str:
    try:
        regex.compile(value)
    except regex.error as error:
        raise PydanticCustomError("regex", "is not a regular expression: {why}", {"why": str(error)}) from None
    return value


def _json_schema(value: Any) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(value, dict | bool):
        raise PydanticCustomError("json_schema", "must be a JSON Schema, got {got}", {"got": describe(value)})
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError as error:
        raise PydanticCustomError("json_schema", "is not a JSON Schema: {why}", {"why": error.message}) from None
    return value


def _argument(value: Any) -> Any:
    """A literal in a selector is the schema `{const: literal}`; a list of literals is `{enum: […]}`."""
    if isinstance(value, dict | bool):
        return _json_schema(value)
    return {"enum": value} if isinstance(value, list) else {"const": value}


def _relative(value: str) -> str:
    parts = value.split("/")
    if not value or value.startswith(("/", "~")) or "\\" in value or any(p in ("", "..") for p in parts):
        raise PydanticCustomError(
            "path", "must be a relative path inside the tree, got {got}", {"got": describe(value)}
        )
    return value


REHEARSAL = "rehearsal:"
"""Before the name of a script it makes a tier: the real CLI, with the script in the model's stead."""


def _tier(value: str) -> str:
    _name(value.removeprefix(REHEARSAL))
    return value


def _jmespath(value: str) -> str:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        jmespath.compile(value)
    except JMESPathError as error:
        why = str(error).splitlines()[0]
        raise PydanticCustomError("jmespath", "is not a JMESPath expression: {why}", {"why": why}) from None
    return value


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""Names of scenarios, cases, checks, agents, tiers, suites, subjects: safe in file names and refs."""


def _name(value: str) -> str:
    if not NAME.fullmatch(value) or value.endswith((".", ".lock")) or ".." in value:
        raise PydanticCustomError(
            "name", "must be a name of letters, digits, '.', '_' and '-', got {got}", {"got": describe(value)}
        )
    return value


Text = Annotated[str, BeforeValidator(_text)]
Int = Annotated[int, BeforeValidator(_integer)]
Count = Annotated[int, BeforeValidator(_integer), Field(ge=0)]
Number = Annotated[float, BeforeValidator(_number)]
Amount = Annotated[float, BeforeValidator(_number), Field(ge=0)]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0)]
Share = Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)]
Bool = Annotated[bool, BeforeValidator(_boolean)]
Json = Annotated[Any, BeforeValidator(plain_value)]
Name = Annotated[str, BeforeValidator(_text), AfterValidator(_name)]
TierName = Annotated[str, BeforeValidator(_text), AfterValidator(_tier)]
"""A tier of the config, or `rehearsal:SCRIPT`."""
Regex = Annotated[str, BeforeValidator(_text), AfterValidator(_compiles)]
Jmespath = Annotated[str, BeforeValidator(_text), AfterValidator(_jmespath)]
RelativePath = Annotated[str, BeforeValidator(_text), AfterValidator(_relative)]
Glob = Annotated[str, BeforeValidator(_text), AfterValidator(_relative)]
JsonSchema = Annotated[
    dict[str, Any] | bool,
    BeforeValidator(plain_value),
    AfterValidator(_json_schema),
    WithJsonSchema({"type": ["object", "boolean"], "description": "a JSON Schema (draft 2020-12)"}),
]
Argument = Annotated[
    Any,
    BeforeValidator(plain_value),
    AfterValidator(_argument),
    WithJsonSchema({"description": "a literal, a list of literals, or a JSON Schema (draft 2020-12)"}),
]


def listed(item: Any) -> Any:
    """A list of `item` that may be written as one item."""
    return Annotated[tuple[item, ...], BeforeValidator(_as_list)]
