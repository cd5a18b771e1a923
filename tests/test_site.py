"""The documentation's site: built without a warning, every link of it leads somewhere, and it fetches nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools import site

LOADS = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """What a page is called by, links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loads.add(given["href"])
        self.loads |= {given[name] for kind, name in LOADS if kind == tag and name in given}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The pages of the site."""
    folder = tmp_path_factory.mktemp("docs")
    assert site.build(folder) == 0
    return {
        path: Page(path.read_text("utf-8")) for path in (folder / "site").rglob("*.html") if path.name != "404.html"
    }


def test_every_page_is_there_and_every_link_and_picture_leads_somewhere(built: dict[Path, Page]) -> None:
    dead = []
    for path, page in built.items():
        for link in page.links | page.loads:
            where = urlsplit(link)
            if where.scheme:
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            target = target / "index.html" if target.is_dir() else target
            anchored = not where.fragment or target not in built or unquote(where.fragment) in built[target].ids
            if not (target.exists() and anchored):
                dead.append(f"{path.name}: {link}")

    assert len(built) == len(site.pages())
    assert dead == []


def test_a_readers_browser_fetches_nothing_from_elsewhere(built: dict[Path, Page]) -> None:
    assert [load for page in built.values() for load in page.loads if urlsplit(load).netloc] == []


def test_a_link_to_a_page_follows_it_and_one_to_a_source_file_becomes_text() -> None:
    places = {"README.md": "index.md", "docs/guides/mcp.md": "guides/mcp.md", "SECURITY.md": "security-policy.md"}
    text = "[a](../../SECURITY.md#b) [c](../../src/c.py) [d](#d) [e](https://e.org)\n```md\n[f](../../README.md)\n```"

    assert site.relinked(text, "docs/guides/mcp.md", places) == (
        "[a](../security-policy.md#b) c [d](#d) [e](https://e.org)\n```md\n[f](../../README.md)\n```"
    )


def test_a_page_in_no_chapter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    titles = dict.fromkeys(site.pages().values(), "t")
    site.menu(titles)

    with pytest.raises(LookupError, match=re.escape("['lost.md']")):
        site.menu(titles | {"lost.md": "Lost"})
    monkeypatch.setitem(site.MENU, "Home", ("home.md",))
    with pytest.raises(LookupError, match=re.escape("['home.md']")):
        site.menu(titles)
