"""Pages of many lessons come in as the lessons they hold, each with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reasoningbank import Memory, ReasoningBank
from reasoningbank.exchange.sheets import BEGIN, END
from reasoningbank.formats.lesson_pages import read_lessons
from tests.formats.conftest import Written

SECTIONS = """# Lessons

What we learned.

## Use uv

It is fast.

```sh
# not a heading
uv pip install x
```

## Testing

### Mock nothing

Use the real small thing.

### Freeze time ###

Pass `now` in.

---
"""
RULES = """# Project

## Style
- Use tabs
- No print
  in library code

## Commands

Run these:

* [ ] `make test` runs the tests

## Links
- [guide](guide.md) - all of it
- @docs/more.md
"""


def lessons(text: str, name: str = "LESSONS") -> list[tuple[str, str, str]]:
    found = read_lessons(text, name, f"{name}.md")
    return [(record.get("title", ""), record["content"], record.get("place", "")) for record in found]


def test_each_innermost_section_is_a_lesson() -> None:
    assert lessons(SECTIONS) == [
        ("Use uv", "It is fast.\n\n```sh\n# not a heading\nuv pip install x\n```", "LESSONS.md:5"),
        ("Mock nothing", "Use the real small thing.", "LESSONS.md:16"),
        ("Freeze time", "Pass `now` in.\n\n---", "LESSONS.md:20"),
    ]
    assert read_lessons(SECTIONS, "x", "x")[1]["description"] == "Testing"


def test_each_rule_of_a_list_is_a_lesson_and_links_are_none() -> None:
    assert lessons(RULES, "AGENTS") == [
        ("", "Use tabs", "AGENTS.md:4"),
        ("", "No print\nin library code", "AGENTS.md:5"),
        ("", "`make test` runs the tests", "AGENTS.md:12"),
    ]
    assert read_lessons(RULES, "x", "x")[0]["description"] == "Style"


def test_rules_for_files_say_where_they_apply() -> None:
    rules = "---\ndescription: React\nglobs: src/**/*.tsx\nalwaysApply: false\n---\n- Use hooks\n- No classes\n"
    found = read_lessons(rules, "react", "react.mdc")

    assert [record["content"] for record in found] == ["Use hooks", "No classes"]
    assert {record["applies_when"] for record in found} == {"In files that match src/**/*.tsx"}
    assert [record["place"] for record in found] == ["react.mdc:6", "react.mdc:7"]
    whole = read_lessons("---\nalwaysApply: true\n---\nUse hooks everywhere.", "react", "react.mdc")
    assert [(record["title"], record["content"]) for record in whole] == [("react", "Use hooks everywhere.")]


@pytest.mark.parametrize(
    "text",
    [
        "Read the whole message.",
        "# Learnings\n- **Problem**: the cache was stale\n- **Fix**: clear it\n",
        "---\nname: deploy\ndescription: How to ship\n---\n# Deploy\n\n## Build\nmake\n\n## Push\nmake push\n",
        "---\ntitle: T\noutcome: failure\n---\n- one\n- two\n",
        "# One\n\nSome text first:\nthen more.\n- a\n- b\n",
        "- only one\n",
        "## Steps\n1. build\n2. push\n",
        "",
    ],
)
def test_a_page_of_one_lesson_stays_whole(text: str) -> None:
    (record,) = read_lessons(text, "page", "page.md")

    assert "place" not in record


def test_a_page_with_fields_that_is_too_long_for_one_lesson_is_split() -> None:
    page = "---\nname: big\ndescription: d\nsee: x\n---\n" + "".join(
        f"## Part {n}\n{'word ' * 3000}\n" for n in range(3)
    )

    assert [record["title"] for record in read_lessons(page, "big", "big.md")] == ["Part 0", "Part 1", "Part 2"]
    assert len(read_lessons("---\nsee: x\n---\n" + "word " * 9000, "big", "big.md")) == 1


def test_what_was_exported_into_a_page_is_left_out() -> None:
    text = f"- Use tabs\n- No print\n\n{BEGIN}\n- from a bank\n{END}\n"

    assert [content for _, content, _ in lessons(text)] == ["Use tabs", "No print"]


PLAYBOOK = """# Playbook
## STRATEGIES
[str-00001] helpful=5 harmful=1 :: Check the login first
- [str-00002] helpful=0 harmful=3 neutral=2 :: Retry at once
"""


def by_content(bank: ReasoningBank) -> dict[str, Memory]:
    return {memory.content: memory for memory in bank.list(limit=100).memories}


def test_the_counts_of_a_playbook_are_evidence_if_it_is_trusted(bank: ReasoningBank, written: Written) -> None:
    imported = bank.exchange.import_from(written("playbook.md", PLAYBOOK), trusted=True)

    assert (imported.created, imported.forms) == (2, {"an ACE playbook": 2})
    good, bad = bank.get("str-00001"), bank.get("str-00002")
    assert good.confidence > good.initial_confidence
    assert bad.confidence < bad.initial_confidence
    assert good.metadata == {"helpful": 5, "harmful": 1, "place": "playbook.md:3"}
    assert good.description == "STRATEGIES"


def test_the_counts_of_a_stranger_are_only_noted(bank: ReasoningBank, written: Written) -> None:
    bank.exchange.import_from(written("playbook.md", PLAYBOOK))

    memory = bank.get("str-00001")
    assert memory.confidence == memory.initial_confidence
    assert memory.metadata["helpful"] == 5


def test_a_memory_folder_comes_in_without_its_index(bank: ReasoningBank, written: Written) -> None:
    folder = written("mem/MEMORY.md", "- [Use uv](use_uv.md) — fast\n- [Tabs](tabs.md)\n").parent
    written(
        "mem/use_uv.md", "---\nname: use-uv\ndescription: prefer uv\nmetadata:\n  type: feedback\n  n: 3\n---\nUse uv."
    )
    written("mem/README.md", "# About\n\nThis folder.")
    written("mem/skills/deploy/SKILL.md", "---\ndescription: How to ship\n---\nRun make ship.")

    imported = bank.exchange.import_from(folder)

    assert (imported.created, imported.left_out) == (2, 2)
    found = by_content(bank)
    assert found["Use uv."].title == "use-uv"
    assert found["Use uv."].metadata == {"type": "feedback", "n": 3}
    assert (found["Run make ship."].title, found["Run make ship."].description) == ("deploy", "How to ship")


def test_an_index_that_says_something_is_a_page(bank: ReasoningBank, written: Written) -> None:
    folder = written("mem/MEMORY.md", "- Use tabs\n- No print\n").parent
    written("mem/one.md", "Read the message.")

    assert bank.exchange.import_from(folder).created == 3


def test_forty_lessons_of_a_page_are_forty(bank: ReasoningBank, tmp_path: Path) -> None:
    page = tmp_path / "LESSONS.md"
    words = [f"{one}{other}" for one in ("blue", "red", "old", "new") for other in "abcdefghij"]
    page.write_text("".join(f"## Lesson {n}\n\nMind the {word} gauge.\n\n" for n, word in enumerate(words)), "utf-8")

    assert bank.exchange.import_from(page, dry_run=True).planned[36].title == "Lesson 36"
    assert bank.count() == 0
    assert bank.exchange.import_from(page).created == 40
    assert {memory.title for memory in bank.list(limit=100).memories} == {f"Lesson {n}" for n in range(40)}
    assert bank.exchange.import_from(page).existing == 40


def records(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return list(given)


def test_the_official_memory_server_s_graph(bank: ReasoningBank) -> None:
    lines = records(
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea", "uses vim"]},
        {"type": "relation", "from": "Ada", "to": "Bob", "relationType": "knows"},
    )

    imported = bank.exchange.import_from(lines)

    assert (imported.created, imported.left_out, imported.rejected) == (2, 1, ())
    assert {memory.title for memory in bank.list().memories} == {"Ada: likes tea", "Ada: uses vim"}
    assert list(imported.forms) == ["the official memory server's graph"]


def test_items_of_a_langgraph_store(bank: ReasoningBank) -> None:
    value = {"kind": "Memory", "content": {"content": "Prefers dark mode"}}
    at = "2024-01-01T00:00:00+00:00"

    bank.exchange.import_from(
        records(
            {"namespace": ["memories", "u1"], "key": "k1", "value": value, "created_at": at, "updated_at": at},
            {"namespace": "notes", "key": "k2", "value": {"text": "Wait a second", "tags": ["api"]}},
            {"key": "k3", "value": {"data": "Count twice"}},
        )
    )

    first = bank.get("memories/u1/k1")
    assert (first.content, first.created_at.year) == ("Prefers dark mode", 2024)
    assert first.metadata == {"namespace": "memories/u1", "kind": "Memory"}
    assert (bank.get("notes/k2").content, bank.get("notes/k2").tags) == ("Wait a second", ("api",))
    assert bank.get("k3").content == "Count twice"


LOG = """# Lessons learned

Use this file to capture findings.

## When to add an entry
- You are surprised.
- Something failed.

## Entry format

### YYYY-MM-DD - Short title
- Category: `surprising` | `unexpected`

## Entries

### 2026-02-26 - `make help` is unreliable
- Category: `unexpected`
- Observation: it exits with a quoting error.
- Action taken: called `ruff` itself.

### 2026-02-27 - Creation requires `created_at`
- Category: `unexpected`
- Observation: without it the insert fails.
- Follow-up: align the defaults.
"""


def test_an_entry_that_is_a_list_of_fields_is_one_lesson_and_words_about_the_page_are_none() -> None:
    lessons = read_lessons(LOG, "LESSONS", "LESSONS.md")

    assert [lesson["title"] for lesson in lessons] == [
        "2026-02-26 - `make help` is unreliable",
        "2026-02-27 - Creation requires `created_at`",
    ]
    assert "Action taken: called `ruff` itself." in lessons[0]["content"]


def test_a_playbook_may_be_a_file_of_plain_text(bank: ReasoningBank, tmp_path: Path) -> None:
    file = tmp_path / "playbook.txt"
    file.write_text("## RULES\n[shr-00001] helpful=5 harmful=0 :: Read the API's page before calling it.\n")

    bank.exchange.import_from(file)

    assert [memory.content for memory in bank.list().memories] == ["Read the API's page before calling it."]


def test_what_mem0_says_is_over_is_kept_and_not_served(bank: ReasoningBank) -> None:
    over = {"id": "over", "memory": "Use the first endpoint", "expiration_date": "2024-01-01"}
    holds = {"id": "holds", "memory": "Use the second endpoint", "expiration_date": "2199-01-01"}

    bank.exchange.import_from([over, holds], trusted=True)

    found = bank.search("use the endpoint", limit=5)
    assert [hit.memory.id for hit in found.hits] == ["holds"]
    assert found.withheld["expired"] == 1
