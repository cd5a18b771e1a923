from __future__ import annotations

from typing import Any

from reasoningbank.runs.transcript import as_text


def test_values_become_text_without_loss() -> None:
    circular: list[Any] = []
    circular.append(circular)

    assert as_text(None) == ""
    assert as_text({"ü": 1}) == '{"ü":1}'
    assert (
        as_text(
            {
                1,
            }
        )
        == "{1}"
    )
    assert as_text(circular) == "[[...]]"


def test_a_value_that_is_nested_too_deeply_becomes_text_that_says_so() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert as_text(deep) == "[nested too deeply]"
