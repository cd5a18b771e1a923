"""Payloads of the bus's operations: what one side says the other reads, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.bus.messages import Digest, blocks_payload, digest_payload, read_blocks, read_digest
from reasoningbank.errors import BusProtocolError
from reasoningbank.replication import Block, begun_anew, key_of

KEY = "ab" * 32
ORIGINS = st.one_of(st.just(KEY), st.integers(1, 2**64 - 1).map(lambda anew: f"{KEY}.{anew:016x}"))
BLOCKS = st.builds(
    lambda origin, first, more, body, signature: Block(origin, first, first + more, body, signature),
    ORIGINS, st.integers(1, 2**40), st.integers(0, 1_000), st.binary(max_size=50), st.binary(min_size=64, max_size=64),
)  # fmt: skip


@given(st.lists(BLOCKS, max_size=5))
def test_blocks_are_read_as_they_were_written(blocks: list[Block]) -> None:
    assert read_blocks(blocks_payload(blocks)) == blocks


@given(st.dictionaries(ORIGINS, st.integers(0, 2**50), max_size=4), st.booleans())
def test_a_digest_is_read_as_it_was_written(have: dict[str, int], is_reply: bool) -> None:
    digest = Digest(have, {KEY: "127.0.0.1:4444"}, is_reply, dict.fromkeys(have, "cd" * 32))

    assert read_digest(digest_payload(digest)) == digest


def test_a_digest_without_heads_is_one_of_a_bank_that_names_none() -> None:
    assert read_digest(b'{"have":{},"addresses":{}}').heads == {}


@pytest.mark.parametrize("wrong", [
    {"heads": []}, {"heads": {KEY: 1}}, {"heads": {"cd" * 32: "ef"}}, {"have": {f"{KEY}.1": 1}}, {"have": {KEY: -1}},
    {"have": {KEY.upper(): 1}}, {"addresses": {KEY: 4444}}, {"addresses": []}, {"have": []},
])  # fmt: skip
def test_a_digest_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BusProtocolError):
        read_digest(json.dumps({"have": {KEY: 1}, "addresses": {}, "heads": {}} | wrong).encode())


@given(st.binary(max_size=400), BLOCKS, st.integers(0, 200))
def test_garbage_is_read_or_refused(garbage: bytes, block: Block, cut: int) -> None:
    for payload in (garbage, blocks_payload([block])[:cut] + garbage):
        for read in (read_blocks, read_digest):
            with suppress(BusProtocolError):
                read(payload)


@given(st.integers(0, 2**44), st.lists(st.integers(0, 2**44), max_size=4))
def test_what_a_bank_goes_on_as_sorts_behind_all_that_it_was(at: int, times: list[int]) -> None:
    before = [KEY]
    for time in times:
        before.append(begun_anew(KEY, time, "ffff", before))
    new = begun_anew(KEY, at, "0000", before)

    assert new > max(before)
    assert key_of(new) == KEY
    assert read_blocks(blocks_payload([Block(new, 1, 1, b"", bytes(64))]))[0].origin == new
