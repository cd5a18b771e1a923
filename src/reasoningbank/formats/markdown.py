"""A lesson as a Markdown page: front matter with its fields, and what to do as the text.

Front matter is read as far as such pages need it: `key: value`, quoted or not, lists inline or one item a line, and
texts of several lines after `|` or `>`. A value that is JSON is that; so what we write comes back whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

PAGE = re.compile(r"\A\ufeff?---[ \t]*\n(?P<front>.*?)^---[ \t]*(?:\n|\Z)(?P<body>.*)\Z", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(?P<key>[\w-]+)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)$")
HEADING = re.compile(r"\A\s*# (?P<title>.+?)[ \t]*(?:\n|\Z)")
TEXTS = ("title", "description", "applies_when")


def read_page(text: str, name: str) -> dict[str, Any]:
    """Return a page as a record; the file's `name`, without its ending, is the title of a page that has none."""
    text = text.replace("\r\n", "\n")
    page = PAGE.match(text)
    record = _front_matter(page["front"]) if page else {}
    body = page["body"] if page else text.removeprefix("\ufeff")
    heading = HEADING.match(body)
    if heading and "title" not in record:
        record["title"] = heading["title"]
        body = body[heading.end() :] if body[heading.end() :].strip() else body
    record.setdefault("title", record.pop("name", None) or re.sub(r"[-_]+", " ", name))
    record |= {field: str(record[field]) for field in TEXTS if record.get(field) is not None}
    return record | {"content": body.strip("\n")}


def body_of(text: str) -> tuple[str, int]:
    """Return what stands below a page's front matter, and how many lines that takes."""
    text = text.replace("\r\n", "\n")
    page = PAGE.match(text)
    return (page["body"], text[: page.start("body")].count("\n")) if page else (text.removeprefix("\ufeff"), 0)


def _front_matter(front: str) -> dict[str, Any]:
    record: dict[str, Any] = {}
    key = ""
    for line in front.splitlines():
        field, item, nested = FIELD.match(line), ITEM.match(line), FIELD.match(line.strip())
        if nested and key and line.startswith((" ", "\t")) and isinstance(record[key], dict | None):
            record[key] = (record[key] or {}) | {nested["key"]: _value((nested["value"] or "").strip())}
        elif field:
            key = field["key"].replace("-", "_")
            record[key] = _value((field["value"] or "").strip())
        elif item and key and isinstance(record[key], list | None):
            record[key] = [*(record[key] or ()), _value(item["value"].strip())]
        elif key and line.startswith((" ", "\t")) and isinstance(record[key], str):
            record[key] = _continued(record[key], line.strip())
    return record


def _continued(text: str, line: str) -> str:
    return line if text in {"|", ">", "|-", ">-"} else f"{text}\n{line}"


def _value(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    quoted = len(text) > 1 and text[0] == text[-1] == "'"
    return text[1:-1].replace("''", "'") if quoted else text


def page(record: Mapping[str, Any]) -> str:
    """Return a record as a page; `read_page` gives it back."""
    fields = [f"{key}: {_shown(value)}\n" for key, value in record.items() if key != "content"]
    return f"---\n{''.join(fields)}---\n{record['content']}\n"


def _shown(value: object) -> str:
    # Escaped, since some of the signs that end a line would end it in the middle of a text.
    return re.sub("[\x85\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(value, ensure_ascii=False))


def file_name(record: Mapping[str, Any], number: int) -> str:
    """Return a readable name for a page; the number keeps it apart from the others."""
    plain = unicodedata.normalize("NFKD", str(record["title"])).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")
    return f"{number:05d}-{slug}.md" if slug else f"{number:05d}.md"
