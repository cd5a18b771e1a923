"""Real sockets on this machine: banks that find each other, resume, recover, and refuse strangers."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.bus import Bus, Identity, Options, Peer
from reasoningbank.bus.bus import address_of
from reasoningbank.errors import BusError, InvalidInputError

FAST = Options(period_ms=200, pull_again_ms=500)
BERLIN, LIMA, OSLO = (Identity.of_seed(bytes([n]) * 32, name) for n, name in enumerate(("berlin", "lima", "oslo"), 1))


def bank(path: Path, name: str) -> ReasoningBank:
    return ReasoningBank(path / name, tenant="acme", project="ops", embedder="hash")


def peer(identity: Identity, address: str | None = None, **terms: str) -> Peer:
    return Peer(identity.name, identity.kid, address=address, **terms)  # type: ignore[arg-type]


async def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - another thread makes it hold
            await asyncio.sleep(0.05)


async def test_two_banks_hold_the_same_after_a_while_and_news_go_both_ways(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        memory = one.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id
        async with (
            Bus(one, BERLIN, [peer(LIMA)], options=FAST) as berlin,
            Bus(two, LIMA, [peer(BERLIN, berlin.address)], options=FAST) as lima,
        ):
            await until(lambda: two.count() == 1)
            await asyncio.to_thread(two.vote, memory, True)
            await until(lambda: one.get(memory).confidence == pytest.approx(two.get(memory).confidence, abs=1e-9))
            status = await lima.status()

        assert status.peers == {"berlin": "alive"}
        assert {each.name: each.have for each in status.origins}["berlin"] >= 1
        # What the other began to say before this bus was open is as old as a replay could be.
        assert status.refused.keys() <= {"too_old"}
        assert two.get(memory).source.by == "bus:berlin"


async def test_a_third_bank_that_knows_one_address_learns_the_others_and_gets_all(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two, bank(tmp_path, "oslo") as three:
        one.record("Quote paths", "Put paths in quotes", outcome="failure")
        async with AsyncExitStack() as stack:
            berlin = await stack.enter_async_context(Bus(one, BERLIN, [peer(LIMA), peer(OSLO)], options=FAST))
            await stack.enter_async_context(
                Bus(two, LIMA, [peer(BERLIN), peer(OSLO)], seeds=[berlin.address], options=FAST)
            )
            await until(lambda: two.count() == 1)
            oslo = Bus(three, OSLO, [peer(BERLIN), peer(LIMA)], seeds=[berlin.address], options=FAST)
            await stack.enter_async_context(oslo)
            await until(lambda: three.count() == 1)
            await until(lambda: set(oslo._connections) == {BERLIN.kid, LIMA.kid})


async def test_sync_brings_all_of_it_once_and_says_how_far_it_is(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        one.record_many([{"title": f"t {n}", "content": f"c {n}", "outcome": "success"} for n in range(30)])
        two.record("Other", "Lesson", outcome="success")
        seen: list[tuple[int, int]] = []
        async with Bus(one, BERLIN, [peer(LIMA)]) as berlin, Bus(two, LIMA, [peer(BERLIN)]) as lima:
            came = await lima.sync(berlin.address, progress=lambda here, known: seen.append((here, known)))
            assert await lima.sync(berlin.address) == 0

        assert (came, one.count(), two.count()) == (30, 31, 31)
        assert seen[-1] == (31, 31)


async def test_a_stranger_is_not_let_in_and_nobody_takes_a_stranger_for_a_peer(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        one.record("Quote paths", "Put paths in quotes", outcome="failure")
        async with Bus(one, BERLIN, [peer(OSLO)]) as berlin, Bus(two, LIMA, [peer(BERLIN)]) as lima:
            with pytest.raises(BusError, match=r"closed|answers"):
                await lima.sync(berlin.address, seconds=3)
            with pytest.raises(BusError, match="not the peer that was meant"):
                await berlin._dial(*address_of(lima.address))
        assert two.count() == 0


async def test_a_peer_that_is_down_is_an_error_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with bank(tmp_path, "berlin") as one, closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as silent:
        silent.bind(("127.0.0.1", 0))
        async with Bus(one, BERLIN, [peer(LIMA)]) as berlin:
            endpoint = berlin._endpoint
            assert endpoint is not None
            with pytest.raises(BusError, match="nobody at"):
                await endpoint.dial("127.0.0.1", silent.getsockname()[1], seconds=0.2)
        await asyncio.sleep(0.1)
        gc.collect()
    assert caplog.messages == []


async def test_a_peer_that_may_only_read_gets_all_and_brings_nothing(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        one.record("Quote paths", "Put paths in quotes", outcome="failure")
        two.record("Other", "Lesson", outcome="success")
        async with (
            Bus(one, BERLIN, [peer(LIMA, scope="read")], options=FAST) as berlin,
            Bus(two, LIMA, [peer(BERLIN, berlin.address)], options=FAST),
        ):
            await until(lambda: two.count() == 2)
            await asyncio.sleep(1)
        assert one.count() == 1


async def test_a_connection_that_is_resumed_speaks_before_the_handshake_is_done(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        async with Bus(one, BERLIN, [peer(LIMA)]) as berlin, Bus(two, LIMA, [peer(BERLIN)]) as lima:
            endpoint = lima._endpoint
            assert endpoint is not None
            host, port = address_of(berlin.address)
            first = await endpoint.dial(host, port, BERLIN.kid)
            await until(lambda: bool(endpoint._kept))
            await endpoint._hang_up(first)

            second = await endpoint.dial(host, port, BERLIN.kid)

            assert second._quic.tls.session_resumed
            assert second._quic.tls.early_data_accepted
            assert second.kid == BERLIN.kid
            await until(lambda: LIMA.kid in berlin._connections)


def test_an_address_is_a_host_and_a_port() -> None:
    assert address_of("127.0.0.1:4444") == ("127.0.0.1", 4444)
    assert address_of("[::1]:0") == ("::1", 0)
    for wrong in ("localhost", ":1", "a:b", "a:99999", ""):
        with pytest.raises(InvalidInputError, match="no address"):
            address_of(wrong)


async def test_a_bank_that_was_put_back_gets_back_what_it_told_and_what_it_told_since_holds_too(tmp_path: Path) -> None:
    with bank(tmp_path, "berlin") as one, bank(tmp_path, "lima") as two:
        memory = one.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id
        one.upkeep.backup(tmp_path / "backup")
        async with Bus(one, BERLIN, [peer(LIMA)]) as berlin, Bus(two, LIMA, [peer(BERLIN)]) as lima:
            lost = [one.record(f"Lost {n}", "With the disk", outcome="success").memory.id for n in range(100)]
            one.vote(memory, True)
            await lima.sync(berlin.address)
        one.upkeep.restore_backup(tmp_path / "backup")
        # As many changes as were lost, so that the numbers alone tell nothing.
        since = [one.record(f"Since {n}", "On the new disk", outcome="success").memory.id for n in range(100)]
        one.vote(memory, False)
        async with Bus(one, BERLIN, [peer(LIMA)]) as berlin, Bus(two, LIMA, [peer(BERLIN)]) as lima:
            await berlin.sync(lima.address)
            await lima.sync(berlin.address)
            status = await lima.status()

        for each in (one, two):
            assert {m.id for m in each.list(state=None, limit=1_000).memories} == {memory, *lost, *since}
            assert sum(p.positive + p.negative for p in each.evidence(memory).pieces) == 2.0
        assert one.get(memory).confidence == pytest.approx(two.get(memory).confidence, abs=1e-9)
        assert [(each.name, each.have >= 203) for each in status.origins if each.name == "berlin"] == [("berlin", True)]


def test_a_peer_cannot_be_called_what_a_bank_calls_itself() -> None:
    with pytest.raises(InvalidInputError, match="another name"):
        Peer("here", LIMA.kid)
