"""Templates: what makes a page of an answer. The only module that knows Jinja2."""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from reasoningbank import MissingExtraError
from reasoningbank.dashboard.addresses import address, in_shared, shared

FOLDER: Final = Path(__file__).parent
NEEDED_BY: Final = ("the dashboard", "web")

# Characters that nobody sees, or that turn the order of those around them: shown by their number.
_UNSEEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\U000e0000-\U000e007f]|[\x00-\x08\x0b-\x1f\x7f]"
)


def load(module: str) -> Any:
    """Import a module of the extra `web`; MissingExtraError when it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(*NEEDED_BY) from error


@cache
def renderer() -> Callable[[str, Mapping[str, Any]], str]:
    """Return what makes a text of a template's name and values. Every value is escaped."""
    jinja2, markup = load("jinja2"), load("markupsafe").Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"address": address, "shared": shared, "in_shared_bank": in_shared}
    environment.filters |= {
        "when": lambda at: _when(at, markup),
        "share": share,
        "number": number,
        "visible": lambda text: _visible(text, markup),
        "plural": lambda many, word: f"{many:,} {word}" if many == 1 else f"{many:,} {word}s",
    }
    return lambda name, values: str(environment.get_template(name).render(values))


def share(value: float | None) -> str:
    """Return a share as people read it."""
    return "–" if value is None else f"{100 * value:.0f} %"


def number(value: float | None, digits: int = 2) -> str:
    """Return a figure as people read it."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.{digits}f}"


def _when(at: datetime | None, markup: Any) -> Any:
    """Return a time in UTC, which the page's script turns into the reader's zone."""
    if at is None:
        return "–"
    utc = at.astimezone(UTC)
    written = '<time datetime="{}">{} UTC</time>'
    return markup(written).format(utc.isoformat(timespec="seconds"), utc.strftime("%Y-%m-%d %H:%M"))


def _visible(text: str, markup: Any) -> Any:
    """Return a text in which what nobody would see is shown by its number."""
    if not _UNSEEN.search(text):
        return markup.escape(text)
    found = markup("")
    end = 0
    for unseen in _UNSEEN.finditer(text):
        name = unicodedata.name(unseen[0], "control character").lower()
        mark = markup('<span class="unseen" title="{}">U+{}</span>').format(name, f"{ord(unseen[0]):04X}")
        found += markup.escape(text[end : unseen.start()]) + mark
        end = unseen.end()
    return found + markup.escape(text[end:])
