"""Results as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reasoningbank import Memory


def json_form(value: object) -> Any:
    """Return a result of the library as what JSON can hold: fields by their names, times as ISO 8601 text."""
    if isinstance(value, Mapping):
        return {str(key): json_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_form(item) for item in value]
    if isinstance(value, Memory):
        return value.as_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_form(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _leaf(value)


def _leaf(value: object) -> Any:
    match value:
        case BaseModel():
            return value.model_dump(mode="json")
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case Path():
            return str(value)
    return value


def json_line(value: object) -> str:
    """Return a result as one line of JSON."""
    return json.dumps(json_form(value), ensure_ascii=False, allow_nan=False)
