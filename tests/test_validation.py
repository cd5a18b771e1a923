from __future__ import annotations

import pytest
from pydantic import BaseModel, model_validator

from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.memory import Draft
from reasoningbank.validation import unknown_name, validated


class Whole(BaseModel):
    size: int = 0

    @model_validator(mode="after")
    def even(self) -> Whole:
        if self.size % 2:
            raise ValueError("odd")
        return self


def test_an_unknown_field_is_an_error_that_names_the_nearest_known_one() -> None:
    with pytest.raises(InvalidInputError, match="'titel': did you mean 'title'"):
        validated(Draft, {"titel": "x"})


def test_where_no_name_is_near_all_are_listed() -> None:
    assert unknown_name("zzz", {"b": 1, "a": 2}) == "name 'zzz': known: a, b"


def test_a_value_of_the_wrong_type_is_an_error_that_names_field_and_value() -> None:
    with pytest.raises(InvalidInputError, match=r"^confidence 'much': input should be a valid number"):
        validated(Draft, {"title": "t", "content": "c", "outcome": "success", "confidence": "much"})


def test_a_field_inside_a_field_is_named_by_its_path() -> None:
    with pytest.raises(InvalidInputError, match=r"^source\.how 'found'"):
        validated(Draft, {"title": "t", "content": "c", "outcome": "success", "source": {"how": "found"}})


def test_an_error_of_ours_comes_through_as_it_is() -> None:
    with pytest.raises(LimitExceededError):
        validated(Draft, {"title": "t" * 999, "content": "c", "outcome": "success"})


def test_a_value_wrong_as_a_whole_is_named_by_its_model() -> None:
    with pytest.raises(InvalidInputError, match=r"^whole .*odd"):
        validated(Whole, {"size": 1})


def test_a_long_value_is_not_shown_in_full() -> None:
    with pytest.raises(InvalidInputError) as caught:
        validated(Draft, {"title": "t", "content": "c", "outcome": "x" * 10_000})
    assert len(str(caught.value)) < 400
