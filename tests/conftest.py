"""What most tests need: a bank in a temporary folder, with the hash embedder and a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reasoningbank import ReasoningBank

if TYPE_CHECKING:
    from tests.servers import Postgres


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **span: float) -> datetime:
        """Move by days, hours, ...; negative ones move it back."""
        self.now += timedelta(**span)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


OpenBank = Callable[..., ReasoningBank]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--place", choices=("folder", "postgres"), default="folder", help="where banks are kept")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("folder_only") and item.config.getoption("--place") != "folder":
        pytest.skip("looks into the files of a folder")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for this session."""
    from tests.servers import running

    with running() as server:
        yield server


@pytest.fixture
def bank_root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Where the test's banks are, with nothing in it: a folder, or a server with --place."""
    if request.config.getoption("--place") == "folder":
        yield tmp_path / "root"
        return
    server: Postgres = request.getfixturevalue("postgres")
    yield server.application
    server.empty()


@pytest.fixture
def open_bank(bank_root: Path | str, clock: Clock) -> Iterator[OpenBank]:
    """Opens banks that are closed after the test; each call is a handle of its own."""
    opened: list[ReasoningBank] = []

    def open_one(tenant: str = "acme", project: str = "billing", **options: Any) -> ReasoningBank:
        defaults: dict[str, Any] = {"embedder": "hash", "clock": clock}
        root = options.pop("root", bank_root)
        opened.append(ReasoningBank(root, tenant=tenant, project=project, **(defaults | options)))
        return opened[-1]

    yield open_one
    for bank in opened:
        bank.close()


@pytest.fixture
def bank(open_bank: OpenBank) -> ReasoningBank:
    """A bank with nothing in it."""
    return open_bank()
