"""The base of everything that the tool writes and reads back itself."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import ConfigDict, SerializerFunctionWrapHandler, model_serializer

from evalrepo.records.base import Model


class Strict(Model):
    """A model that is written by the tool only: no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True, allow_inf_nan=False)


class Sparing(Strict):
    """One with fields that came later or are rare: they are left out of its JSON while they are empty."""

    rare: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_rare(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        for name in self.rare:
            if not data.get(name):
                data.pop(name, None)
        return data
