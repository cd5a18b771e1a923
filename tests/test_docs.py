"""The docs hold: links lead somewhere, examples run, decisions are numbered once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tools.domain import ROOT

PAGES = sorted(
    path.relative_to(ROOT)
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("integrations/*/*.md")]
)
# What a reader would copy runs here as it stands, block after block; `<!-- not run: why -->` above a block exempts it.
EXAMPLES = [
    page
    for page in PAGES
    if page.parts[0] in {"README.md", "docs"} and not {"decisions", "reference"} & set(page.parts)
]
BLOCK = re.compile(r"(?P<exempt><!-- not run: .+? -->\n+)?^```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
# Lines of a decision; what was measured for it stands in docs/benchmarks.
ONE_PAGE = 45
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """Return a page without its fenced code, which may hold anything."""
    return re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts derive them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    return (ROOT / target).exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", link)]

    assert [link for link in links if not leads_somewhere(page, link)] == []


@pytest.mark.parametrize("page", EXAMPLES, ids=str)
def test_every_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text("utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for variable in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)

    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        if not block["exempt"]:
            exec(compile("\n" * line + block["code"], str(page), "exec"), namespace)


def test_decisions_are_numbered_once() -> None:
    numbers = Counter(path.name[:4] for path in ROOT.glob("docs/decisions/*.md"))

    assert [number for number, times in numbers.items() if times > 1 or not number.isdigit()] == []


def test_every_decision_says_what_why_and_at_what_price_on_one_page() -> None:
    pages = {page.name: page.read_text("utf-8") for page in sorted(ROOT.glob("docs/decisions/*.md"))}

    assert [
        name
        for name, text in pages.items()
        if text.count("\n") > ONE_PAGE or not all(part in text for part in ("**Decided", "**Why", "**Given up"))
    ] == []
