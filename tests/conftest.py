"""What most tests need: a bank in a temporary folder, with the hash embedder and a clock that stands still."""

from __future__ import annotations

import importlib
import pkgutil
import signal
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from coverage import Coverage
from hypothesis import is_hypothesis_test

import reasoningbank
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


def pytest_configure() -> None:
    # A shell starts what runs in the background deaf to it, and so would be all that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


# -- what is measured ----------------------------------------------------------------------------------------------

# A tracer makes Python three to six times as slow. What these tests run of our code, others run too, and so do the many
# examples of most properties; they are not measured, and coverage is at least what is reported.
UNMEASURED = ("tests/benchmarks/", "tests/examples/", "tests/torture/", "integrations/")
# Where properties reach lines that nothing else does.
WITH_PROPERTIES = ("tests/prompt/", "tests/runs/", "tests/screening/", "tests/upkeep/")
MEASURING = pytest.StashKey[Coverage]()


def is_measured(item: pytest.Function) -> bool:
    """Tell whether a test counts for coverage."""
    if is_hypothesis_test(item.obj):
        return item.nodeid.startswith(WITH_PROPERTIES)
    return not item.nodeid.startswith(UNMEASURED)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Measure what our modules do when they are imported, and pause until the first test that is measured."""
    measuring = Coverage.current()
    if measuring is not None:
        for module in pkgutil.walk_packages(reasoningbank.__path__, "reasoningbank."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        measuring.stop()
        session.config.stash[MEASURING] = measuring
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Function) -> Generator[None, object, object]:
    """Measure a test, where coverage is asked for."""
    measuring = item.config.stash.get(MEASURING, None)
    if measuring is None or not is_measured(item):
        return (yield)
    measuring.start()
    try:
        return (yield)
    finally:
        measuring.stop()
