"""Keys in files, and the list of those who are trusted."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from reasoningbank.bus import Identity, Peer, TrustFile
from reasoningbank.bus.identity import checked_key, key_of, verify
from reasoningbank.bus.trust import cap_text, read_caps
from reasoningbank.errors import BusError, InvalidInputError

KEY = Identity.of_seed(bytes(32)).kid
OTHER = Identity.of_seed(bytes([1]) * 32).kid


def test_a_key_comes_back_from_its_file_which_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "berlin.key"
    made = Identity.generate("berlin")
    made.save(path)

    loaded = Identity.load(path)

    assert (loaded.kid, loaded.name) == (made.kid, "berlin")
    assert verify(made.kid, loaded.sign(b"x"), b"x")
    assert not verify(made.kid, loaded.sign(b"x"), b"y")
    if os.name != "nt":
        assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(BusError, match="overwritten is lost"):
        made.save(path)


def test_a_file_that_holds_no_key_of_ours_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    with pytest.raises(BusError, match="bus keygen"):
        Identity.load(path)
    path.touch(mode=0o600)
    with pytest.raises(BusError, match="holds no private key"):
        Identity.load(path)
    other = X25519PrivateKey.generate()
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(BusError, match="another kind of key"):
        Identity.load(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such modes")
def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    Identity.generate().save(path)
    path.chmod(0o644)

    with pytest.raises(BusError, match="others than its owner"):
        Identity.load(path)


def test_a_certificate_holds_the_key_and_nothing_of_the_owner() -> None:
    identity = Identity(Ed25519PrivateKey.generate(), "secret-name")

    certificate, _ = identity.certificate(datetime(2024, 2, 29, tzinfo=UTC))

    assert key_of(certificate) == identity.kid
    assert b"secret-name" not in certificate.public_bytes(Encoding.DER)


def test_caps_are_read_and_written() -> None:
    caps = read_caps("memories=500/day, signals=20000/day,bytes=50MB/day")

    assert caps == {"memories": 500, "signals": 20_000, "bytes": 50_000_000}
    assert read_caps(cap_text(caps)) == caps
    assert read_caps("") == {}
    for wrong in ("memories=500", "lessons=5/day", "memories=-1/day", "bytes=5TB/day"):
        with pytest.raises(InvalidInputError, match="is not of the form"):
            read_caps(wrong)


def test_peers_are_kept_by_key_under_one_name_each(tmp_path: Path) -> None:
    trust = TrustFile(tmp_path / "bus" / "trust.json")
    assert trust.peers() == []

    assert trust.add(Peer("lima", KEY, caps={"memories": 5}))
    assert not trust.add(Peer("lima", KEY, scope="read", trusted=True, address="127.0.0.1:4444"))

    assert trust.peers() == [Peer("lima", KEY, "read", {}, True, "127.0.0.1:4444")]
    with pytest.raises(InvalidInputError, match="name of another key"):
        trust.add(Peer("lima", OTHER))
    with pytest.raises(InvalidInputError, match="called 'lima' here"):
        trust.add(Peer("oslo", KEY))
    with pytest.raises(InvalidInputError, match="there are: lima"):
        trust.remove("oslo")
    assert trust.remove("lima").key == KEY
    assert trust.peers() == []


def test_a_damaged_list_trusts_nobody_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    for written in ("{", "[]", '{"peers": [{"name": "x"}]}', '{"peers": [{"name": "../x", "key": "y"}]}'):
        path.write_text(written)
        with pytest.raises(BusError, match="no list of peers"):
            TrustFile(path).peers()
    with pytest.raises(BusError, match="cannot be read"):
        TrustFile(tmp_path).peers()


def test_what_is_no_key_name_or_scope_is_refused() -> None:
    assert checked_key(f" {KEY.upper()} ") == KEY
    for name, key, scope in (("Lima", KEY, "read"), ("lima", "ab", "read"), ("lima", KEY, "root")):
        with pytest.raises(InvalidInputError):
            Peer(name, key, scope)
