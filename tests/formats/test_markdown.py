"""Lessons as Markdown pages, read and written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import InvalidInputError, ReasoningBank, StorageError, Verdict
from reasoningbank.exchange import Imported
from reasoningbank.formats.markdown import file_name, page, read_page
from tests.bank.test_transfer import exported
from tests.conftest import OpenBank
from tests.formats.conftest import Written

PAGE = """---
title: "Quote paths: always"
description: Blanks split words
outcome: failure
tags: [shell, "c++"]
applies-when: >
  paths come from outside;
  not for fixed names
see:
  - one
  - two
size: 3
draft: false
note: 'it''s so'
# a comment
empty:
---

Put paths in **quotes**.

    mv "$a" "$b"
"""


def test_front_matter_and_text_make_a_record() -> None:
    assert read_page(PAGE, "quote-paths") == {
        "title": "Quote paths: always",
        "description": "Blanks split words",
        "outcome": "failure",
        "tags": ["shell", "c++"],
        "applies_when": "paths come from outside;\nnot for fixed names",
        "see": ["one", "two"],
        "size": 3,
        "draft": False,
        "note": "it's so",
        "empty": None,
        "content": 'Put paths in **quotes**.\n\n    mv "$a" "$b"',
    }


@pytest.mark.parametrize(
    ("text", "title", "content"),
    [
        ("# Quote paths\n\nIn quotes.", "Quote paths", "In quotes."),
        ("# Quote paths\n", "Quote paths", "# Quote paths"),
        ("In quotes.", "quote paths", "In quotes."),
        ("---\nname: Quote all\n---\nIn quotes.", "Quote all", "In quotes."),
        ("---\ntitle: 404\n---\n# Other\n\nIn quotes.", "404", "# Other\n\nIn quotes."),
        ("\ufeff---\r\ntitle: Quote\r\n---\r\nIn quotes.\r\n", "Quote", "In quotes."),
        ("---\nno end\nIn quotes.", "quote paths", "---\nno end\nIn quotes."),
        ("---\n---\nIn quotes.", "quote paths", "In quotes."),
        ("---\n- stray\n  stray\n?!\n---\nIn quotes.", "quote paths", "In quotes."),
    ],
)
def test_a_page_has_a_title_wherever_it_stands(text: str, title: str, content: str) -> None:
    record = read_page(text, "quote-paths")

    assert (record["title"], record["content"]) == (title, content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,10}", fullmatch=True), JSON, max_size=5), st.text(min_size=1, max_size=40)
)
def test_what_is_written_is_read_back(fields: dict[str, Any], title: str) -> None:
    record = {k: v for k, v in fields.items() if k not in {"title", "description", "applies_when", "name", "content"}}
    record |= {"title": title, "content": "Do it."}

    assert read_page(page(record), "x") == record


def test_file_names_are_plain_and_in_order() -> None:
    assert file_name({"title": "Prüfe Pfade: immer!"}, 7) == "00007-prufe-pfade-immer.md"
    assert file_name({"title": "試験"}, 12) == "00012.md"
    assert len(file_name({"title": "x" * 200}, 1)) < 80


def test_a_folder_of_pages_comes_in(bank: ReasoningBank, written: Written) -> None:
    folder = written("notes/quote-paths.md", PAGE).parent
    written("notes/deep/read-errors.md", "Read the whole message.")
    written("notes/deep/bad.md", "---\noutcome: maybe\n---\nx")
    written("notes/picture.png", "no page")

    imported = bank.exchange.import_from(folder)

    assert imported.created == 2
    assert [bad.reason.partition(":")[0] for bad in imported.rejected] == [str(Path("deep/bad.md"))]
    quote, errors = sorted(bank.list().memories, key=lambda memory: memory.title)
    assert (quote.title, quote.outcome, quote.tags) == ("Quote paths: always", Verdict.FAILURE, ("shell", "c++"))
    assert quote.metadata == {"see": ["one", "two"], "size": 3, "draft": False, "note": "it's so"}
    assert (errors.title, errors.source.by) == ("read errors", "notes")


def test_one_page_comes_in(bank: ReasoningBank, written: Written) -> None:
    assert bank.exchange.import_from(written("quote-paths.md", PAGE)) == Imported(
        created=1, source="quote-paths.md", untrusted=1
    )


def test_a_folder_without_pages_says_so(bank: ReasoningBank, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="holds no Markdown pages"):
        bank.exchange.import_from(tmp_path)


def test_an_export_as_pages_is_the_same_bank_again(bank: ReasoningBank, open_bank: OpenBank, tmp_path: Path) -> None:
    bank.record(
        "Quote paths", "Put paths\n---\nin quotes\u2028: ü", outcome="failure", tags=["a, b"], metadata={"n": [1]}
    )
    bank.record("試験", "# A heading\n\nText", outcome="success", description="d: e")
    recall = bank.recall("quote paths")
    bank.report("success", ref=recall.ref)
    seen: list[int] = []

    assert bank.exchange.export_to(tmp_path / "pages", format="markdown", progress=seen.append) == 2
    copy = open_bank(project="copy")
    assert copy.exchange.import_from(tmp_path / "pages", trusted=True) == Imported(created=2, source="pages")

    assert exported(copy) == exported(bank)
    assert seen == [1, 2]
    assert [path.name for path in sorted((tmp_path / "pages").iterdir())] == ["00001-quote-paths.md", "00002.md"]


def test_pages_appear_whole_or_not_at_all(bank: ReasoningBank, tmp_path: Path) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")

    def fail(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bank.exchange.export_to(tmp_path / "pages", format="markdown", progress=fail)
    assert [path.name for path in tmp_path.iterdir() if "pages" in path.name] == []
    with pytest.raises(InvalidInputError, match="is there already"):
        bank.exchange.export_to(tmp_path, format="markdown")
    with pytest.raises(StorageError, match="cannot be written"):
        bank.exchange.export_to(tmp_path / "no" / "folder", format="markdown")


def test_an_unknown_format_is_refused(bank: ReasoningBank, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="'xml' is not one of jsonl, markdown"):
        bank.exchange.export_to(tmp_path / "x", format="xml")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="needs a folder"):
        bank.exchange.export_to(io.StringIO(), format="markdown")
