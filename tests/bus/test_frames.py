"""Frames: the published vectors, and that no bytes do more than be refused."""

from __future__ import annotations

import random
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.bus.frames import (
    HEAD,
    HEADER_LIMIT,
    LARGEST,
    PAYLOAD_LIMIT,
    Decoder,
    Frame,
    FrameType,
    Header,
    StreamRole,
    decode,
    encode,
)
from reasoningbank.errors import BusProtocolError

PUBLISHED = Frame(FrameType.REQUEST, Header("test_op", 0, "n"), b"test payload")


def test_166_the_fixed_head_has_11_bytes() -> None:
    assert HEAD.size == 11


def test_167_a_request_is_these_bytes() -> None:
    data = encode(PUBLISHED)

    assert data[:11].hex() == "0001010000002f0000000c"
    assert data[11:58] == b'{"ts":0,"nonce":"n","op":"test_op","version":1}'
    assert len(data) == 70


def test_168_what_is_encoded_is_decoded() -> None:
    assert decode(encode(PUBLISHED)) == PUBLISHED


@pytest.mark.parametrize(
    "data",
    [
        encode(PUBLISHED)[:10],
        b"\0\2" + encode(PUBLISHED)[2:],
        encode(PUBLISHED)[:2] + b"\x0a" + encode(PUBLISHED)[3:],
        encode(PUBLISHED)[:-1],
    ],
    ids=["10 bytes", "version 2", "type 10", "truncated payload"],
)
def test_169_short_and_unknown_frames_are_errors(data: bytes) -> None:
    with pytest.raises(BusProtocolError):
        decode(data, versions=(1,))


def test_170_control_request_and_snapshot_change_things() -> None:
    assert {kind.name for kind in FrameType if kind.is_mutating} == {"CONTROL", "REQUEST", "SNAPSHOT"}


def test_the_roles_of_streams_have_their_published_numbers_and_scopes() -> None:
    assert [role.value for role in StreamRole] == list(range(9))
    assert [role.value for role in StreamRole if role.scope == "write"] == [0, 1, 3]


def test_the_header_has_its_keys_in_the_published_order() -> None:
    whole = Header("o", 1, "n", kid="k", scope="read", cap=5, sig="s", topic="t", aud="a", payload="p")

    data = encode(Frame(FrameType.GOSSIP, whole, b"", 2))

    assert data[11:] == (
        b'{"kid":"k","ts":1,"nonce":"n","scope":"read","cap":5,"sig":"s","op":"o","topic":"t","version":2,'
        b'"aud":"a","payload":"p"}'
    )
    assert decode(data) == Frame(FrameType.GOSSIP, whole, b"", 2)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"[]", "not a JSON object"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 9_000, "not JSON"),
        (b'{"ts":0,"nonce":"n","version":1}', "no op"),
        (b'{"ts":0,"nonce":"n","op":"o","version":2}', "version 2 in a frame of version 1"),
        (b'{"ts":0,"nonce":"n","op":"o","version":true}', "version True"),
        (b'{"ts":0,"nonce":"n","op":"o"}', "version None"),
        (b'{"ts":-1,"nonce":"n","op":"o","version":1}', "ts in a header"),
        (b'{"ts":1.5,"nonce":"n","op":"o","version":1}', "ts in a header"),
        (b'{"ts":0,"cap":true,"nonce":"n","op":"o","version":1}', "cap in a header"),
        (b'{"ts":0,"nonce":7,"op":"o","version":1}', "nonce in a header is not a text"),
        (b'{"ts":0,"nonce":"\\ud800","op":"o","version":1}', "half a surrogate"),
        (b'{"ts":0,"nonce":"n","op":"o","version":1,"aud":"a"}', "has no key 'aud'"),
        (b'{"ts":' + b"9" * 5_000 + b',"nonce":"n","op":"o","version":1}', "not JSON"),
    ],
)
def test_a_header_that_is_none_is_refused(header: bytes, problem: str) -> None:
    with pytest.raises(BusProtocolError, match=problem):
        decode(HEAD.pack(1, 1, len(header), 0) + header)


def test_what_is_over_a_limit_is_neither_made_nor_waited_for() -> None:
    with pytest.raises(BusProtocolError, match="payload of 1,048,577 bytes"):
        encode(PUBLISHED._replace(payload=bytes(PAYLOAD_LIMIT + 1)))
    with pytest.raises(BusProtocolError, match="header of"):
        encode(PUBLISHED._replace(header=Header("o" * HEADER_LIMIT, 0, "n")))
    with pytest.raises(BusProtocolError, match="surrogate"):
        encode(PUBLISHED._replace(header=Header("\ud800", 0, "n")))
    # Four gibibytes are announced, and refused from the head alone.
    with pytest.raises(BusProtocolError, match="header of 4,294,967,295 bytes"):
        Decoder().feed(HEAD.pack(1, 1, 2**32 - 1, 0))


def test_a_frame_behind_which_something_stands_is_not_the_one_frame() -> None:
    with pytest.raises(BusProtocolError, match="1 bytes stand behind"):
        decode(encode(PUBLISHED) + b"x")


@given(st.lists(st.binary(max_size=40), max_size=5), st.integers(1, 50))
def test_frames_come_whole_however_the_bytes_are_cut(payloads: list[bytes], step: int) -> None:
    frames = [PUBLISHED._replace(payload=payload) for payload in payloads]
    data = b"".join(map(encode, frames))
    decoder = Decoder()

    found = [frame for start in range(0, len(data), step) for frame in decoder.feed(data[start : start + step])]

    assert found == frames
    assert decoder.is_between_frames


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for fed in (data, HEAD.pack(1 + len(data) % 2, len(data) % 10, len(data), 0) + data):
        try:
            Decoder().feed(fed)
        except BusProtocolError:
            continue


def mutated(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                changed[place] = rng.randrange(256)
            case 1:
                changed[place] ^= 1 << rng.randrange(8)
            case 2:
                del changed[place : place + rng.randint(1, 9)]
            case _:
                changed[place:place] = rng.randbytes(rng.randint(1, 9))
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def test_100_000_mutations_are_frames_or_refused_and_take_no_memory() -> None:
    rng = random.Random(26)
    frames = [
        encode(PUBLISHED),
        encode(Frame(FrameType.SNAPSHOT, Header("blocks", 5, "n", "k" * 64, "write", 9, "s", "t", "a", "p"), b"x", 2)),
        b"".join([encode(PUBLISHED)] * 2),
    ]
    for number in range(100_000):
        if number == 99_000:
            tracemalloc.start()  # which makes all of it many times as slow
        try:
            Decoder().feed(mutated(rng, rng.choice(frames)))
        except BusProtocolError:
            continue
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < LARGEST


def test_a_decoder_holds_one_frame_of_the_largest_size_at_the_most() -> None:
    decoder = Decoder()
    head = struct.pack(">HBII", 1, 1, HEADER_LIMIT, PAYLOAD_LIMIT)
    tracemalloc.start()
    try:
        assert decoder.feed(head + bytes(HEADER_LIMIT)) == []
        for _ in range(15):
            assert decoder.feed(bytes(PAYLOAD_LIMIT // 16)) == []
        with pytest.raises(BusProtocolError, match="not JSON"):
            decoder.feed(bytes(PAYLOAD_LIMIT // 16))
        assert tracemalloc.get_traced_memory()[1] < 4 * LARGEST
    finally:
        tracemalloc.stop()
