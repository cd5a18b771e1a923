"""Lessons that were written to run in the reader's browser: every text of a memory is text on every page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.rendering import renderer
from tests.dashboard.conftest import PROJECT, Visitor

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</title></textarea></script><script>alert(1)</script>",
    "{{ 71993 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "\u202egnp.exe\u200b<b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


class Elements(HTMLParser):
    """Collects what a page holds beside its own elements."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.strange: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.scripts += tag == "script"
        if tag in ("img", "iframe", "object", "embed", "base", "style") or any(n.startswith("on") for n in named):
            self.strange.append(tag)
        for name in ("href", "src", "action", "xlink:href"):
            if (named.get(name) or "").strip().lower().startswith(("javascript:", "data:", "http", "//")):
                self.strange.append(f"{tag} {name}")


def harmless(page: str) -> None:
    found = Elements()
    found.feed(page)
    assert found.strange == []
    assert found.scripts == page.count('<script src="/static/')
    assert "503951" not in page


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_lesson_or_a_run_becomes_a_part_of_a_page(
    visitor: Visitor, bank: ReasoningBank, text: str
) -> None:
    # What names something may hold nothing that cannot be seen: the bank refuses it.
    name = text.replace("\u202e", "").replace("\u200b", "")
    source = {"how": "imported", "by": name, "session": name}
    memory = bank.record(
        text,
        text,
        outcome="success",
        description=text,
        applies_when=text,
        tags=[name[:60]],
        source=source,
        metadata={text: text},
        signatures=[f"Error: {text}"],
    ).memory
    other = bank.record(f"{text} 2", f"{text} 2", outcome="failure").memory
    bank.links.add(memory.id, other.id, text[:40], evidence=text, by=name)
    bank.update(other.id, content=f"{text} 3", reason=text, by=name)
    recalled = bank.recall(text, ref=f"run {name}", thread=name)
    bank.report("failure", ref=recalled.ref, reason=f"{text} and more words", by=name)
    bank.vote(memory.id, True, by=name, reason=text)

    lessons = f"/p/{PROJECT}/lessons"
    run = bank.runs.list().episodes[0]
    for path in (
        f"/p/{PROJECT}",
        f"{lessons}?class=all",
        address(PROJECT, "lessons", memory.id),
        address(PROJECT, "lessons", other.id),
        address(PROJECT, "lessons", memory.id) + "/edit",
        address(PROJECT, "runs"),
        address(PROJECT, "runs", run.ref),
        address(PROJECT, "search", q=text),
        address(PROJECT, "lessons", tag=name, source=name, text=text),
        address(PROJECT, "review", queue="quarantined"),
        address(PROJECT, "review", queue="provisional"),
        "/?all=1",
    ):
        harmless(visitor.get(path))
    harmless(visitor.get(address(PROJECT, "lessons", name), status=404))
    harmless(visitor.post(address(PROJECT, "lessons", memory.id, "archive"), reason=text))


def test_a_project_with_a_hostile_name_is_shown_and_reached(visitor: Visitor) -> None:
    name = '"><script>alert(1)</script>/..'
    visitor.site.banks.open(name).record("A lesson", "What to do.", outcome="success")
    harmless(visitor.get("/?all=1"))
    page = visitor.get("/p/~22~3E~3Cscript~3Ealert~281~29~3C~2Fscript~3E~2F~2E~2E/lessons")

    harmless(page)
    assert "A lesson" in page


def test_what_nobody_would_see_is_shown_by_its_number() -> None:
    page = renderer()("problem.html", {**NOTHING, "problem": "pay\u200b now \u202etxt <b>"})

    assert '<span class="unseen" title="zero width space">U+200B</span>' in page
    assert "U+202E" in page
    assert "\u202e" not in page
    assert "&lt;b&gt;" in page


NOTHING: dict[str, object] = {
    "title": "",
    "project": "",
    "in_shared": None,
    "projects": [],
    "tenant": "",
    "section": "",
    "notice": None,
    "can_change": False,
}
