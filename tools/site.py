"""Build the documentation's site from the pages of the repository: `python -m tools.site`, or `make docs`.

The pages are written to be read where they lie, too, on a code host or in an editor. So the site is made of copies:
each page gets its place, links between pages follow, and a link to what is no page (a source file) becomes plain text.
A link that leads nowhere, a page that is in no menu, and whatever the builder warns of are errors. Nothing is fetched,
by the build or by a reader's browser: fonts are the system's, and the search runs on the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tools.domain import ROOT

# The menu: chapters, and in each its pages in order of reading. A folder stands for its pages not named before.
MENU: dict[str, tuple[str, ...]] = {
    "Home": ("index.md",),
    "Quickstart": ("quickstart.md", "frameworks/", "examples.md"),
    "Concepts": ("concepts.md", "concepts/"),
    "Guides": (
        "contents.md",
        *(f"guides/{name}.md" for name in ("which-door", "langchain", "langgraph", "llama-index", "mcp", "hooks")),
        *(f"guides/{name}.md" for name in ("judging", "distillation", "local-model", "retrieval", "confidence")),
        *(
            f"guides/{name}.md"
            for name in ("does-it-help", "metrics", "upkeep", "servers", "sharing", "keeping", "moving")
        ),
        *(f"guides/{name}.md" for name in ("security", "privacy", "troubleshooting", "faq", "upgrading")),
        "guides/",
        "guides/mcp/",
    ),
    "Reference": ("reference/", "reference/cli/", "reference/python/", "reference/frameworks/"),
    "Figures": ("benchmarks/README.md", "benchmarks/"),
    "Project": ("changelog.md", "contributing.md", "security-policy.md", "dependencies.md"),
    "Decisions": ("decisions/",),
}
SETTINGS = {
    "site_name": "ReasoningBank",
    "site_description": "Experience memory for agents: lessons from what worked, guard-rails from what failed.",
    "docs_dir": "pages",
    "site_dir": "site",
    # A page is a file, so that the site can be read from a disk.
    "use_directory_urls": False,
    "theme": {
        "font": False,
        "features": ["navigation.tabs", "navigation.top", "search.highlight", "content.code.copy", "toc.follow"],
        "palette": [
            {"media": "(prefers-color-scheme: light)", "scheme": "default"},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
        ],
    },
}
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "docs/README.md": "contents.md",
    "examples/README.md": "examples.md",
    "integrations/langchain/README.md": "frameworks/langchain.md",
    "integrations/langgraph/README.md": "frameworks/langgraph.md",
    "integrations/llama-index/README.md": "frameworks/llama-index.md",
}
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def pages(root: Path = ROOT) -> dict[str, str]:
    """Return where each page lies in the repository, and where on the site; relative to the root of each."""
    inside = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    return {path: path.removeprefix("docs/") for path in inside} | OUTSIDE


def relinked(text: str, page: str, places: Mapping[str, str], root: Path = ROOT) -> str:
    """Return a page's text for its place on the site.

    Args:
        page: where it lies in the repository.
        places: see `pages`.
    """

    def moved(link: re.Match[str]) -> str:
        path, hash_, anchor = link["target"].partition("#")
        if re.match(r"[a-z]+:", path) or not path:
            return link[0]
        lies = os.path.normpath(PurePosixPath(page).parent / path)
        if (root / lies).is_dir():
            lies = next((one for one in places if one.startswith(f"{lies}/")), lies)
        if lies in places or lies.startswith("docs/"):
            to = places.get(lies, lies.removeprefix("docs/"))
            path = os.path.relpath(to, PurePosixPath(places[page]).parent)
            return f"{link['image']}[{link['text']}]({path}{hash_}{anchor})"
        return link["text"]

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def menu(titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the builder's menu.

    Args:
        titles: of each page on the site.

    Raises:
        LookupError: a page is in no chapter, or a chapter names what is no page.
    """
    left = dict(titles)
    chapters: list[dict[str, Any]] = []
    for chapter, entries in MENU.items():
        named = [page for entry in entries for page in _named(entry, titles)]
        if missing := [page for page in named if page not in titles]:
            raise LookupError(f"the menu names {missing}, which are no pages")
        chapters.append({chapter: [{left.pop(page): page} for page in dict.fromkeys(named) if page in left]})
    if left:
        raise LookupError(f"in no chapter of the menu: {sorted(left)}")
    return chapters


def _named(entry: str, titles: Mapping[str, str]) -> list[str]:
    if not entry.endswith("/"):
        return [entry]
    return sorted(page for page in titles if page.startswith(entry) and "/" not in page.removeprefix(entry))


def stage(folder: Path, root: Path = ROOT) -> None:
    """Lay out in a folder what the builder reads: its settings, and a copy of each page and picture."""
    places = pages(root)
    titles = {}
    for page, place in places.items():
        text = (root / page).read_text("utf-8")
        titles[place] = _title(text)
        _write(folder / "pages" / place, relinked(text, page, places, root).encode())
    for picture in (root / "docs").rglob("*.*"):
        if picture.suffix in {".png", ".svg", ".gif"}:
            _write(folder / "pages" / picture.relative_to(root / "docs"), picture.read_bytes())
    # Every JSON document is YAML.
    _write(folder / "mkdocs.yml", json.dumps(SETTINGS | {"nav": menu(titles)}, indent=1).encode())


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else ""


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def build(folder: Path) -> int:
    """Build the site in a folder, whose `site` it is then, and return an exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    stage(folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(folder / "mkdocs.yml")]
    return subprocess.run(command, cwd=folder, env=os.environ | {"NO_COLOR": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(build(ROOT / "build/docs"))
