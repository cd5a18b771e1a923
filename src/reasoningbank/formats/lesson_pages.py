"""A Markdown page of many lessons: its sections, its rules, the bullets of a playbook; each with its place.

A page is split where its writer did: a list of rules into its items, a page of sections into its innermost sections, a
playbook of the ACE form (`[id] helpful=N harmful=N :: text`) into its bullets. A page with the fields of one lesson in
its front matter, a skill, and a page of plain text stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reasoningbank.exchange.sheets import without_block
from reasoningbank.formats.markdown import body_of, read_page
from reasoningbank.memory import CONTENT_LIMIT, DESCRIPTION_LIMIT

HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<title>.+?)[ \t]*#*$")
BULLET = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)$")
FENCE = re.compile(r"[ \t]*(```|~~~)")
PLAYBOOK = re.compile(
    r"[ \t]*(?:[-*][ \t]+)?\[(?P<id>[\w.:-]{1,80})\][ \t]*helpful=(?P<helpful>\d{1,9})[ \t]+"
    r"harmful=(?P<harmful>\d{1,9})"
    r"(?:[ \t]+neutral=\d+)?[ \t]*::[ \t]*(?P<text>\S.*)$"
)
# A bullet that begins with the name of a field is a part of one lesson.
LABELLED = re.compile(
    r"(?i)[*_`]{0,3}(?:problem|symptoms?|cause|root cause|fix|solution|lesson|when|why|how(?: to apply)?|context|rule|"
    r"outcome|example|date|source|trigger|action(?: taken)?|pattern|impact|evidence|applies(?: when)?|task|result|"
    r"status|category|observation|finding|learned|learning|takeaway|follow[- ]?up|mitigation|prevention|resolution|"
    r"issue|mistake|correction|insight|tags|severity|what happened|what worked|what failed)"
    r"[*_`]{0,3}[ \t]*:"
)
# What a page says of itself: how it is kept, and the form of an entry.
ABOUT_THE_PAGE = re.compile(
    r"(?i)(?:entry|lesson) (?:format|template)|(?:how|when) to (?:use|add|update|read|write) (?:an? |to )?"
    r"(?:this |new )?(?:file|page|document|entry|entries|lessons?)|(?:table of )?contents|"
    r"about this (?:file|page|document)|.*\byyyy-mm-dd\b.*"
)
LINK_ONLY = re.compile(
    r"(?:[*_`]*\[[^\]]+\]\([^)]*\)[*_`]*|\[\[[^\]]+\]\]|@\S+|https?://\S+)(?:\s*(?:[-–—:]\s*\S.*)?)$"
)
# Where pages of a folder are listed; itself no lesson.
INDEX = frozenset({"readme", "index", "memory", "contents", "toc", "_index", "changelog", "license"})
MANY = 2  # items or sections from which a page holds several lessons


@dataclass(slots=True)
class _Section:
    """A heading with the lines right below it, and the headings above it."""

    title: str
    level: int
    line: int
    above: tuple[str, ...]
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def is_index(text: str, name: str) -> bool:
    """Tell whether a page of a folder only leads to the others: by its name, where its lists hold nothing but links."""
    if name.lower() not in INDEX:
        return False
    bullets = [match["text"] for line in text.splitlines() if (match := BULLET.match(line))]
    return name.lower() == "readme" or (bool(bullets) and all(map(LINK_ONLY.match, bullets)))


def holds_playbook(text: str) -> bool:
    """Tell whether a text that is no Markdown page by its name holds bullets of a playbook."""
    return next(_playbook(text.splitlines(), 0, ""), None) is not None


def read_lessons(text: str, name: str, file: str) -> list[dict[str, Any]]:
    """Return the lessons of a page as records, at least one.

    Args:
        name: the file's, without its ending: the title of a page that has none.
        file: what the place of a lesson begins with.
    """
    text = without_block(text)
    page = read_page(text, name)
    body, skipped = body_of(text)
    lines = body.splitlines()
    bullets = list(_playbook(lines, skipped, file))
    if bullets:
        return bullets
    is_rules = "globs" in page or "alwaysApply" in page
    if set(page) - {"content", "title", "description", "globs", "alwaysApply", "paths"} and not is_rules:
        return [page] if len(page["content"]) <= CONTENT_LIMIT else _split(lines, skipped, file) or [page]
    found = _split(lines, skipped, file)
    if is_rules:
        found = found or [{"title": page["title"], "content": page["content"], "place": file}]
        where = (
            {"applies_when": f"In files that match {page['globs']}"[:DESCRIPTION_LIMIT]} if page.get("globs") else {}
        )
        return [lesson | where for lesson in found]
    # The fields of one lesson stand above it, unless it is too long to be one.
    return found if found and (not page.get("description") or len(page["content"]) > CONTENT_LIMIT) else [page]


def _playbook(lines: Sequence[str], skipped: int, file: str) -> Iterator[dict[str, Any]]:
    section = ""
    for number, line in enumerate(lines, start=skipped + 1):
        heading, bullet = HEADING.match(line), PLAYBOOK.match(line)
        if heading:
            section = heading["title"]
        elif bullet:
            yield {
                "format": "ace",
                "id": bullet["id"],
                "content": bullet["text"],
                "description": section,
                "helpful": int(bullet["helpful"]),
                "harmful": int(bullet["harmful"]),
                "place": f"{file}:{number}",
            }


def _split(lines: Sequence[str], skipped: int, file: str) -> list[dict[str, Any]]:
    """Return a page's lessons if it holds several, else nothing."""
    lessons = [lesson for section in _sections(lines, skipped) for lesson in _of_section(section, file)]
    return lessons if len(lessons) >= MANY else []


def _sections(lines: Sequence[str], skipped: int) -> list[_Section]:
    found = [_Section("", 0, skipped + 1, ())]
    path: list[_Section] = []  # the headings that the present line stands under
    fence = ""
    for number, line in enumerate(lines, start=skipped + 1):
        mark = FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else HEADING.match(line)
        if heading is None:
            found[-1].lines.append(line)
            continue
        level = len(heading["marks"])
        path = [section for section in path if section.level < level]
        above = tuple(section.title for section in path)
        found.append(_Section(heading["title"].strip("*_ "), level, number, above))
        path.append(found[-1])
    return found


def _of_section(section: _Section, file: str) -> Iterator[dict[str, Any]]:
    if not section.text.strip() or section.text.strip() == "---":
        return
    if any(map(ABOUT_THE_PAGE.fullmatch, (section.title, *section.above))):
        return
    context = " / ".join((*section.above[1:], section.title)) if section.title else ""
    items = _rules(section)
    if items is not None:
        for number, item in items:
            yield {"content": item, "description": context[:DESCRIPTION_LIMIT], "place": f"{file}:{number}"}
    elif section.level > 1:
        above = " / ".join(section.above[1:])[:DESCRIPTION_LIMIT]
        yield {"title": section.title, "content": section.text, "description": above, "place": f"{file}:{section.line}"}


def _rules(section: _Section) -> list[tuple[int, str]] | None:
    """Return the items of a section that is a list, each with its line, links left out; None for any other section."""
    items: list[tuple[int, list[str]]] = []
    indent = None
    for number, line in enumerate(section.lines, start=section.line + (1 if section.title else 0)):
        bullet = BULLET.match(line)
        if bullet and (indent is None or len(bullet["indent"]) <= indent):
            indent = len(bullet["indent"])
            items.append((number, [bullet["text"]]))
        elif items and (line.startswith((" ", "\t")) or not line.strip()):
            items[-1][1].append(line.strip())
        elif line.strip() and (items or not line.rstrip().endswith(":")):
            # A sentence that ends with a colon leads to the list; other text makes the section one lesson.
            return None
    texts = [(number, "\n".join(lines).strip()) for number, lines in items]
    rules = [(number, text) for number, text in texts if not LINK_ONLY.match(text)]
    if sum(bool(LABELLED.match(text)) for _, text in rules) * 2 > len(rules):
        return None
    return rules if texts else None
