"""Safe folder names for tenants and projects: injective, and the same on every operating system."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from reasoningbank.errors import InvalidNameError, ScopeError

NAME_LIMIT = 200
_SLUG_LENGTH = 40
# Control, format (zero-width, bidirectional marks), surrogate, private use, unassigned, line and paragraph separators.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def checked_name(name: object, what: str) -> str:
    """Return a tenant's or project's name in NFC.

    Args:
        what: "tenant" or "project", for the message.

    Raises:
        ScopeError: there is none; there is no default.
        InvalidNameError: it is blank, longer than 200 characters, or holds invisible characters.
    """
    if name is None:
        raise ScopeError(f"no {what} was given: name the {what}, there is no default")
    if not isinstance(name, str):
        raise InvalidNameError(f"{what} {name!r} is not a text: give its name")
    normal = unicodedata.normalize("NFC", name)
    if not normal.strip():
        raise ScopeError(f"the {what}'s name is empty: name the {what}, there is no default")
    if len(normal) > NAME_LIMIT:
        raise InvalidNameError(f"the {what}'s name has {len(normal)} characters; the limit is {NAME_LIMIT}")
    for character in normal:
        if unicodedata.category(character) in _REFUSED_CATEGORIES:
            raise InvalidNameError(f"{what} {name!r} holds U+{ord(character):04X}, which cannot be seen: leave it out")
    return normal


def folder_name(name: str) -> str:
    """Return the folder's name for a checked name: a readable ASCII slug and 80 bits of its hash.

    Lower case, digits, dashes only and never empty, so that case-insensitive file systems, device names, separators
    and path limits cannot make two names meet or let one escape.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_SLUG_LENGTH].strip("-") or "x"
    return f"{slug}-{hashlib.blake2b(name.encode(), digest_size=10).hexdigest()}"
