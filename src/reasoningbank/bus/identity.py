"""Who a bank is on the bus: an Ed25519 key, and the file that it is kept in."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from reasoningbank.errors import BusError, InvalidInputError, MissingExtraError

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )
except ImportError:
    raise MissingExtraError("the neural bus", "bus") from None

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_KEY = re.compile(r"[0-9a-f]{64}")


class Identity:
    """A private key with the name that its owner gave it.

    Attributes:
        name: 1 to 40 of a-z, 0-9, _ and -; it is told to nobody.
        kid: the public key, as the hex of its 32 bytes: what others trust.
    """

    def __init__(self, key: Ed25519PrivateKey, name: str = "bank") -> None:
        self._key, self.name = key, checked_name(name)
        self.kid = key.public_key().public_bytes_raw().hex()

    @classmethod
    def generate(cls, name: str = "bank") -> Identity:
        """Return a new one."""
        return cls(Ed25519PrivateKey.generate(), name)

    @classmethod
    def of_seed(cls, seed: bytes, name: str = "bank") -> Identity:
        """Return the one that these 32 bytes are the private key of."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed), name)

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Return the one that a file holds, named as the file; BusError when there is none, or others may read it."""
        try:
            written = path.read_bytes()
            others = path.stat().st_mode & 0o077
        except OSError as error:
            raise BusError(
                f"no identity in {path} ({error.strerror}): make one with `reasoningbank bus keygen`"
            ) from None
        if others and os.name != "nt":
            raise BusError(f"{path} can be read by others than its owner: chmod 600 it, or make a new key")
        try:
            key = load_pem_private_key(written, None)
        except (ValueError, TypeError):
            raise BusError(f"{path} holds no private key: make one with `reasoningbank bus keygen`") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise BusError(f"{path} holds another kind of key than Ed25519: make one with `reasoningbank bus keygen`")
        return cls(key, path.stem)

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read (mode 0600); BusError when there is a file."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise BusError(
                f"{path} is there already, and a key that is overwritten is lost: give another name"
            ) from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature."""
        return self._key.sign(message)

    def certificate(self, now: datetime) -> tuple[Any, Any]:
        """Return a certificate that this key signed for itself, from a day ago to ten years on, and the key.

        Whoever gets it looks at the key in it and at nothing else.
        """
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "reasoningbank")])
        begin = now.astimezone(UTC).replace(microsecond=0)
        built = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin.replace(year=begin.year - 1, day=1))
            .not_valid_after(begin.replace(year=begin.year + 10, day=1))
        )
        return built.sign(self._key, None), self._key


def checked_name(name: str) -> str:
    """Return a name of a key or peer; InvalidInputError when it cannot be one."""
    if not NAME.fullmatch(name):
        raise InvalidInputError(f"name {name!r:.60} is not 1 to 40 of a-z, 0-9, _ and -")
    return name


def checked_key(kid: str) -> str:
    """Return a public key as it is written; InvalidInputError when it is none."""
    given = kid.strip().lower()
    if not _KEY.fullmatch(given):
        raise InvalidInputError(f"{kid!r:.80} is no public key: give the 64 characters that `bus keygen` printed")
    return given


def verify(kid: str, signature: bytes, message: bytes) -> bool:
    """Tell whether the owner of a public key signed this."""
    try:
        _public(kid).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=1024)
def _public(kid: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(kid))


def key_of(certificate: Any) -> str | None:
    """Return the public key in a certificate; None when it is no Ed25519 key."""
    key = certificate.public_key()
    return key.public_bytes_raw().hex() if isinstance(key, Ed25519PublicKey) else None
