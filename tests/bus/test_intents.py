"""Intents: the published vectors, and each way in which one is refused."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from reasoningbank.bus import FrameType, Grant, Header, Identity, Nonces, Refusal, check, permits, signed
from reasoningbank.bus.frames import Frame
from reasoningbank.bus.identity import verify
from reasoningbank.bus.intents import FUTURE_MS, TOO_OLD_MS, digest
from reasoningbank.errors import BusRefusedError

NOW = 1_700_000_000_000
BERLIN, LIMA, EVE = (Identity.of_seed(bytes([n]) * 32, name) for n, name in enumerate(("berlin", "lima", "eve")))
WINDOW_SIZE = 3


def grant(identity: Identity, scope: str = "write") -> dict[str, Grant]:
    return {identity.kid: Grant(scope, lambda signature, message: verify(identity.kid, signature, message))}


def intent(identity: Identity = BERLIN, **changes: Any) -> Frame:
    header = Header("push", NOW, "n-1", scope="write", cap=1000, aud=LIMA.kid)._replace(**changes)
    return signed(identity, FrameType.SNAPSHOT, header, b"lessons")


def refused(frame: Frame, *, now: int = NOW, scope: str = "write", window: Nonces | None = None) -> str | None:
    of = grant(BERLIN, scope)
    try:
        check(frame, "write", of=of, audience=LIMA.kid, window=Nonces() if window is None else window, now=now)
    except BusRefusedError as error:
        return error.reason
    return None


def test_171_admin_includes_write_includes_read_and_other_scopes_themselves() -> None:
    asked = [("admin", "write"), ("admin", "read"), ("write", "read"), ("read", "write"), ("a", "a"), ("a", "b")]

    assert [permits(*each) for each in asked] == [True, True, True, False, True, False]


PUBLISHED = Header("store_pattern", 1_700_000_000_000, "n-1", kid="test-key", scope="write", cap=1000)


def test_172_the_digest_of_version_1() -> None:
    assert digest(PUBLISHED).hex() == "3354062ab1ad2266258d2795ceb56bfd0944b33bf24799c03d93e6eda21ffe9c"


def test_173_the_signature_over_it() -> None:
    identity = Identity.of_seed(bytes(range(32)))

    assert identity.kid == "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
    assert base64.b64encode(identity.sign(digest(PUBLISHED))).decode() == (
        "Tgu5CxpyGcDilDzIEKtZKN34v2rN6JpKaJB+WFvqe2LzqduelJl82UVN/nmkZ6mfAcZVwsfaEhZFnPOE/Y/MDg=="
    )


@pytest.mark.parametrize(
    ("age", "reason"),
    [
        (360_000, Refusal.TOO_OLD),
        (0, None),
        (TOO_OLD_MS, None),
        (-FUTURE_MS, None),
        (-FUTURE_MS - 1, "from_the_future"),
    ],
)
def test_174_an_intent_is_too_old_after_300_s_and_too_early_before_30_s(age: int, reason: str | None) -> None:
    assert refused(intent(), now=NOW + age) == reason


def test_175_the_same_intent_is_refused_the_second_time() -> None:
    window = Nonces()

    assert [refused(intent(), window=window) for _ in range(2)] == [None, Refusal.REPLAYED]


def test_176_no_nonce_is_forgotten_within_the_window_a_new_one_is_refused_instead() -> None:
    window = Nonces(most=WINDOW_SIZE)
    told = [refused(intent(nonce=f"n-{n}"), window=window) for n in range(WINDOW_SIZE + 1)]

    assert told == [None] * WINDOW_SIZE + [Refusal.TOO_MANY]
    assert [refused(intent(nonce=f"n-{n}"), window=window) for n in range(WINDOW_SIZE)] == ["replayed"] * WINDOW_SIZE
    later = NOW + TOO_OLD_MS + 1
    assert refused(intent(ts=later, nonce="n-9"), now=later, window=window) is None
    assert window.kept == 1


def test_one_key_cannot_fill_the_window_of_another() -> None:
    window = Nonces(most=1)
    window.note(EVE.kid, "n-1", NOW, NOW)

    assert refused(intent(), window=window) is None


def test_what_is_older_than_the_window_itself_could_be_a_replay() -> None:
    assert refused(intent(), window=Nonces(since=NOW + 1)) == Refusal.TOO_OLD


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (Frame(FrameType.REQUEST, Header("push", NOW, "n"), b"", 2), Refusal.UNSIGNED),
        (Frame(FrameType.REQUEST, Header("push", NOW, "n", BERLIN.kid, "write", 1, "sig")), Refusal.PAYLOAD_NOT_SIGNED),
        (intent(EVE), Refusal.UNKNOWN_KEY),
        (intent()._replace(payload=b"other lessons"), Refusal.BAD_SIGNATURE),
        (intent()._replace(type=FrameType.CONTROL), Refusal.BAD_SIGNATURE),
        (intent()._replace(header=intent().header._replace(op="drop")), Refusal.BAD_SIGNATURE),
        (intent()._replace(header=intent().header._replace(sig="nonsense!")), Refusal.BAD_SIGNATURE),
        (intent()._replace(header=intent(EVE).header._replace(kid=BERLIN.kid)), Refusal.BAD_SIGNATURE),
        (intent(aud=EVE.kid), Refusal.NOT_FOR_US),
        (intent(aud=None), Refusal.NOT_FOR_US),
        (intent(scope="read"), Refusal.SCOPE),
        (intent(scope=None), Refusal.SCOPE),
        (intent(cap=6), Refusal.CAP),
    ],
)
def test_what_is_not_rightly_asked_for_is_refused_and_leaves_no_nonce(frame: Frame, reason: Refusal) -> None:
    window = Nonces()

    assert refused(frame, window=window) == reason
    assert window.kept == 0


def test_a_peer_that_may_only_read_is_refused_whatever_it_claims() -> None:
    assert refused(intent(scope="admin"), scope="read") == Refusal.SCOPE
    assert refused(intent(scope="admin"), scope="admin") is None


def test_no_colon_shifts_one_signed_field_into_another() -> None:
    one = Header("op", 1, "a:b", kid="k", scope="c", aud="d")
    other = Header("op", 1, "a", kid="k", scope="b:c", aud="d")

    assert digest(one, version=2) != digest(other, version=2)
