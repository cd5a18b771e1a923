"""Recordings of the loopback endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cassette_policy import settings
from tests.llm.endpoint import serving


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return settings()


@pytest.fixture
def base_url(record_mode: str) -> Iterator[str]:
    """Where the endpoint is: a running server while recording, and nobody's address when replaying."""
    if record_mode == "none":
        yield "http://127.0.0.1:9/v1"
        return
    with serving() as url:
        yield url
