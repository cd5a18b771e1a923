"""docs/reference is what the code says, and `make docs` writes it."""

from __future__ import annotations

import inspect
import re
from enum import StrEnum

import pytest
from pydantic import BaseModel, Field

from reasoningbank import bank
from reasoningbank.bank.handle import Namespace
from reasoningbank.mcp_server.schemas import TITLES
from tools import describe, reference


@pytest.mark.parametrize("page", reference.PAGES)
def test_the_reference_is_what_the_code_says(page: str) -> None:
    written = reference.FOLDER / page

    assert written.read_text("utf-8") == reference.PAGES[page](), f"run `make docs`: {page} is stale"


def test_every_part_of_the_bank_has_its_page() -> None:
    parts = {
        name.lower() for name, thing in vars(bank).items() if inspect.isclass(thing) and Namespace in thing.__mro__
    }

    assert parts - {"reasoningbank", "namespace"} == set(reference.PARTS)


def test_every_tool_of_the_server_has_its_place_in_the_reference() -> None:
    page = reference.PAGES["mcp.md"]()

    assert set(re.findall(r"^## `(memory_\w+)`$", page, re.MULTILINE)) == set(TITLES)


def test_a_docstring_becomes_titles_and_lists() -> None:
    docstring = """Do it.

    At once.

    Args:
        n: how often, and
            how fast.
        *rest: more.

    Returns:
        How it went.

    Source: a book.
    """

    assert (
        describe.markdown(docstring).splitlines()
        == [
            "Do it.",
            "",
            "At once.",
            "",
            "**Args:**",
            "",
            "- `n`: how often, and",
            "  how fast.",
            "- `*rest`: more.",
            "",
            "**Returns:**",
            "",
            "- How it went.",
            "",
            "**Source:** a book.",
            "",
        ][:-1]
    )


class Size(StrEnum):
    SMALL = "small"


class Box(BaseModel):
    size: Size
    marks: list[str] = Field(default_factory=list)


def test_a_signature_is_shown_as_it_is_written() -> None:
    def pack(self: object, size: Size = Size.SMALL, *, gently: bool = True, **more: int) -> list[int]:
        return []

    assert describe.signature("pack", pack) == (
        "pack(size: Size = Size.SMALL, *, gently: bool = True, **more: int) -> list[int]"
    )
    assert describe.signature("Box", Box) == "Box(*, size: Size, marks: list[str] = [])"


def test_a_long_signature_has_a_line_for_each_parameter() -> None:
    def pack(first_of_the_long_parameters: str, second_of_the_long_parameters: str, *boxes: str, tail: int) -> None: ...

    assert describe.signature("pack", pack).splitlines()[1] == "    first_of_the_long_parameters: str,"
    assert "    *boxes: str," in describe.signature("pack", pack).splitlines()
    assert inspect.cleandoc(describe.signature("pack", pack)).endswith(",\n) -> None")
