"""Recordings of a small real model; see tools/local_model.py."""

from __future__ import annotations

import os
from typing import Any

import pytest

from reasoningbank import OpenAIChat
from tests.cassette_policy import settings


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return settings()


@pytest.fixture
def model_url(record_mode: str) -> str:
    """Where the model is: as `make record` says while recording, and nobody's address when replaying."""
    if record_mode == "none":
        return "http://127.0.0.1:9/v1"
    if "LOCAL_MODEL_URL" not in os.environ:
        pytest.skip("recording needs the model: make record")
    return os.environ["LOCAL_MODEL_URL"]


@pytest.fixture
def model(model_url: str) -> OpenAIChat:
    """A real language model of 270 million parameters: what it says is seldom wise, and really said."""
    return OpenAIChat("gemma3-270m", base_url=model_url, api_key="none", timeout=600, retries=0)
