"""Many tenants in one process: what is open is bounded by who is active, and nobody notices."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reasoningbank import (
    AsyncReasoningBank,
    BankRoot,
    InvalidInputError,
    ReasoningBank,
    ScopeError,
    StorageError,
    Tenants,
)

PROC = Path("/proc/self/fd")
counts_descriptors = pytest.mark.skipif(not PROC.exists(), reason="no /proc on this system")


def descriptors() -> int:
    return len(list(PROC.iterdir()))


def lesson(bank: ReasoningBank, text: str = "Quote paths") -> str:
    return bank.record(text, "Names may hold blanks.", outcome="failure").memory.id


@pytest.fixture
def tenants(tmp_path: Path) -> Tenants:
    return Tenants(tmp_path, embedder="hash", most_open=3)


@counts_descriptors
@pytest.mark.folder_only
def test_only_so_many_have_their_files_open_however_many_are_held(tenants: Tenants) -> None:
    gc.collect()  # what tests before this one left is not counted
    before = descriptors()
    banks = [tenants.open(f"tenant {n}", "p") for n in range(20)]
    for bank in banks[:3]:
        lesson(bank)
    most = descriptors() - before
    for bank in banks[3:]:
        lesson(bank)

    assert 0 < descriptors() - before <= most
    tenants.close()
    assert descriptors() <= before


def test_a_handle_that_rested_goes_on_as_if_nothing_had_been(tenants: Tenants) -> None:
    banks = [tenants.open(f"tenant {n}", "p") for n in range(10)]
    ids = [lesson(bank, f"Lesson of {n}") for n, bank in enumerate(banks)]

    for _ in range(2):
        for n, bank in enumerate(banks):
            assert [memory.id for memory in bank.search("quote the names").memories] == [ids[n]]
            assert bank.recall("quote the names", timeout=60).memories[0].title == f"Lesson of {n}"


def test_one_that_is_in_use_is_never_put_to_rest(tenants: Tenants) -> None:
    busy, begun, go_on = tenants.open("busy", "p"), threading.Event(), threading.Event()
    lesson(busy)

    def read() -> bool:
        with busy._engine.read() as view:
            begun.set()
            assert go_on.wait(30)
            return view.moment.change > 0

    with ThreadPoolExecutor(1) as other:
        reading = other.submit(read)
        assert begun.wait(30)
        for n in range(10):
            lesson(tenants.open(f"tenant {n}", "p"))
        go_on.set()
        assert reading.result(30)


def test_threads_on_more_tenants_than_may_be_open_lose_nothing(tenants: Tenants) -> None:
    def work(n: int) -> None:
        bank = tenants.open(f"tenant {n % 8}", "p")
        lesson(bank, f"Lesson {n}")
        assert bank.search("quote the names").hits

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(64)))

    assert [tenants.open(f"tenant {n}", "p").count() for n in range(8)] == [8] * 8


def test_the_same_handle_comes_back_as_long_as_somebody_holds_it(tenants: Tenants) -> None:
    held = tenants.open("acme", "p")
    assert tenants.open("acme", "p") is held
    assert tenants.open("globex", "p") is not held
    assert repr(held).startswith("ReasoningBank(")
    reference = id(held)
    del held
    gc.collect()

    assert len(tenants._banks) == 0, reference


def test_closing_and_deleting_reach_what_was_opened(tenants: Tenants) -> None:
    bank, other = tenants.open("acme", "p"), tenants.open("acme", "q")
    lesson(bank)
    lesson(other)
    assert tenants.projects("acme") == ["p", "q"]
    tenants.delete_project("acme", "p")
    with pytest.raises(StorageError, match="closed"):
        bank.count()
    with tenants:
        assert tenants.open("acme", "p").count() == 0
    with pytest.raises(StorageError, match="closed"):
        other.count()


def test_a_root_of_one_tenant_is_bounded_too_and_knows_no_other(tmp_path: Path) -> None:
    with BankRoot(tmp_path, tenant="acme", embedder="hash", most_open=1) as root:
        assert [lesson(root.open(name)) and root.open(name).count() for name in ("a", "b")] == [1, 1]
        assert root.projects() == ["a", "b"]
    with pytest.raises(ScopeError):
        Tenants(tmp_path).open("", "p")
    with pytest.raises(InvalidInputError, match="most_open"):
        BankRoot(tmp_path, tenant="acme", most_open=0)


async def test_a_bank_can_be_made_in_a_coroutine_without_holding_up_its_loop(tmp_path: Path) -> None:
    from blockbuster import blockbuster_ctx

    with blockbuster_ctx("reasoningbank"):
        bank = await AsyncReasoningBank.create(tmp_path, tenant="acme", project="p", embedder="hash")
        await bank.record("Quote paths", "Names may hold blanks.", outcome="failure")
        lazily = ReasoningBank(tmp_path, tenant="acme", project="p", embedder="hash")
        many = Tenants(tmp_path, embedder="hash").open("acme", "p")
        for made in (lazily, many):
            assert (await AsyncReasoningBank(made).recall("quote the names", timeout=60)).hits
    for opened in (bank.bank, lazily, many):
        opened.close()
