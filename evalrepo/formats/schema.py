"""JSON Schemas of what people write, made from the models. An editor can check a file while it is written."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from evalrepo.records import base
from evalrepo.records.config import Config
from evalrepo.records.event import Event
from evalrepo.records.labels import Labels, Votes
from evalrepo.records.record import Record
from evalrepo.records.rubric import RubricHead
from evalrepo.records.scenario import ScenarioFile

KINDS: dict[str, tuple[str, Any]] = {
    "config": ("evalrepo.yaml", Config),
    "scenario": ("scenarios/ID.yaml and scenarios-reserve/ID.yaml", ScenarioFile),
    "rubric": ("the YAML head of rubrics/NAME.md", RubricHead),
    "labels": ("rubrics/NAME.labels.yaml", Labels),
    "votes": ("rubrics/NAME.votes.yaml", Votes),
    "event": ("evalrepo.ledger/ULID.yaml", Event),
    "record": ("the JSON block of a result file", Record),
}
"""File kind → what it describes, and its model."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = ["string", "number", "boolean"]


def schemas() -> dict[str, dict[str, Any]]:
    """File kind → JSON Schema (draft 2020-12) of the YAML value, with unquoted numbers allowed where text is."""
    return {kind: schema(kind) for kind in KINDS}


def schema(kind: str) -> dict[str, Any]:
    """The schema of one kind of `KINDS`."""
    where, model = KINDS[kind]
    made: dict[str, Any]
    if isinstance(model, type) and issubclass(model, BaseModel):
        made = model.model_json_schema(schema_generator=_Written)
    else:
        made = TypeAdapter(model).json_schema(schema_generator=_Written)
    return {"$schema": _DIALECT, "title": f"evalrepo {kind}", "$comment": where, **_without_title(made)}


def _without_title(made: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in made.items() if key != "title"}


class _Written(GenerateJsonSchema):
    """Says of a field what may be written, where the model's validators take more or less than its type."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """Text takes any scalar; a list may be one item."""
        made = super().function_before_schema(schema)
        function: Any = schema["function"].get("function")
        if function is base._text and made.get("type") == "string":
            return {**made, "type": _TEXT}
        if function is base._as_list and made.get("type") == "array":
            return {"anyOf": [made, made.get("items", {})]}
        return made

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        """Names have a pattern, regular expressions a format."""
        made = super().function_after_schema(schema)
        function: Any = schema["function"].get("function")
        if function is base._name:
            return {**made, "pattern": f"^{base.NAME.pattern}$"}
        if function is base._compiles:
            return {**made, "format": "regex"}
        return made
