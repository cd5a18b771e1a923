"""A dashboard without a server: a browser's requests, and what came of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.dashboard import Access, Site, build_app
from tests.conftest import Clock

HOST = "http://127.0.0.1:8766"
PROJECT = "billing"


class Visitor:
    """A browser that was let in."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.client = TestClient(build_app(site), base_url=HOST, follow_redirects=True)
        self.client.get("/", params={"token": site.access.token})

    def get(self, path: str, status: int = 200, **query: Any) -> str:
        """Return a page's text."""
        answer = self.client.get(path, params=query or None)
        assert answer.status_code == status, answer.text
        return answer.text

    def post(self, path: str, /, status: int = 200, **fields: Any) -> str:
        """Send a form of this dashboard, and return the page that follows."""
        data = {"csrf": self.site.access.csrf, **fields}
        answer = self.client.post(path, data=data, headers={"origin": HOST})
        assert answer.status_code == status, answer.text
        return answer.text

    def press(self, page: str, label: str, **fields: str) -> str:
        """Press the button of this label on a page, and return the page that follows."""
        for form in re.findall(r'<form[^>]* method="post".*?</form>', page, re.DOTALL):
            if re.search(rf"<button[^>]*>{re.escape(label)}</button>", form):
                hidden: dict[str, Any] = {
                    n: unescape(v) for n, v in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
                }
                action = unescape(re.findall(r'action="([^"]*)"', form)[0])
                return self.post(action, **(hidden | fields))
        raise AssertionError(f"no button {label!r}")


def notice(page: str) -> str:
    """Return what a page says was done."""
    found = re.search(r'<div class="notice[^"]*" role="\w+">\s*<p>(.*?)</p>', page, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""


@pytest.fixture
def banks(tmp_path: Path, clock: Clock) -> Iterator[BankRoot]:
    with BankRoot(tmp_path / "root", tenant="acme", embedder="hash", clock=clock) as opened:
        yield opened


@pytest.fixture
def bank(banks: BankRoot) -> ReasoningBank:
    """The bank that the dashboard shows."""
    return banks.open(PROJECT)


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(banks: BankRoot) -> Iterator[Visit]:
    """Lets one more browser in, to a dashboard of its own."""
    with ExitStack() as opened:
        yield lambda **access: Visitor(opened.enter_context(closing(Site(banks, Access(**access)))))


@pytest.fixture
def visitor(visit: Visit) -> Visitor:
    return visit()
