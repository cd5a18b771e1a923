"""The docs hold: links lead somewhere, examples run, decisions are numbered once."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from tools.domain import ROOT

PAGES = sorted(
    path.relative_to(ROOT)
    for path in [
        *ROOT.glob("*.md"),
        *(path for folder in ("docs/**", "examples", "integrations/*") for path in ROOT.glob(f"{folder}/*.md")),
    ]
)
# What a reader would copy runs here as it stands, block after block; `<!-- not run: why -->` above a block exempts it.
EXAMPLES = [
    page
    for page in PAGES
    if (page.parts[0] in {"README.md", "docs"} and not {"decisions", "reference"} & set(page.parts))
    or page.parts[:2] in {("integrations", "langchain"), ("integrations", "langgraph")}
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

    if "init_chat_model" in text:
        monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda name: scripted_model())

    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        if not block["exempt"]:
            exec(compile("\n" * line + block["code"], str(page), "exec"), namespace)
    if "init_chat_model" in text:
        # The lesson that the page records was shown, and the run that it helped is credited.
        bank = namespace["bank"]
        assert isinstance(bank, ReasoningBank)
        assert bank.runs.list(verdict="success").episodes[-1].memories
        assert bank.list().memories[0].confidence > 0.8


def scripted_model() -> Any:
    """Return a model that answers as its prompt advises it to."""
    from langchain_core.language_models.chat_models import SimpleChatModel

    class ScriptedModel(SimpleChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def _call(self, messages: list[Any], *args: Any, **kwargs: Any) -> str:
            advised = any("Use csv.reader" in message.text for message in messages)
            return "next(csv.reader([line]))" if advised else "line.split(',')"

    return ScriptedModel()


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").rglob("*.svg")), ids=lambda path: path.name)
def test_every_drawing_is_whole_and_fetches_nothing(picture: Path) -> None:
    text = picture.read_text("utf-8")

    assert ET.fromstring(text).tag.endswith("svg")
    assert [found for found in re.findall(r"(?:href=|url\(|@import)\W*(\w[^\s)\"]*)", text) if "://" in found] == []


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


def said_by_the_code() -> list[str]:
    """Return every text in the code, also what is joined of several; where something is put in, it is cut."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "integrations").glob("*/*_*/**/*.py")]
    sources += (ROOT / "integrations").glob("*/llama_index/**/*.py")
    found = []
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            found += [piece for text in texts for piece in text.split("%s")]
    return found


def test_every_message_in_troubleshooting_is_one_that_the_code_says() -> None:
    text = (ROOT / "docs/guides/troubleshooting.md").read_text("utf-8")
    cells = re.findall(r"^\| (`.+?`|``.+?``)(?= \||,| )", text, re.MULTILINE)
    messages = [cell.strip("` ") for cell in cells if " " in cell]
    said = said_by_the_code()

    missing = [
        (message, part)
        for message in messages
        for part in re.split(r"…", message)
        if part.strip() and not any(part.strip() in one for one in said)
    ]
    assert len(messages) > 20
    assert missing == []
