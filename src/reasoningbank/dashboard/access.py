"""Who may come in: pure decisions about one request."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlsplit

from reasoningbank.serving import host_of, is_served, same_secret

CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"

# Nothing runs but the files of the wheel, nothing is fetched from elsewhere, and nobody may put a page into a frame.
POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # The address of the first page holds the token; a stricter policy would take the Origin from our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Access:
    """What one server asks of its visitors.

    Attributes:
        host: where it listens.
        token: what the printed address holds; who knows it may do everything.
        read_only: nothing may be changed.
        names: host names that requests may ask for beside `host`, in lower case.
    """

    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    read_only: bool = False
    names: tuple[str, ...] = ()

    @property
    def cookie_name(self) -> str:
        """The cookie's name: browsers share cookies between ports, and two dashboards must not take each other's."""
        return f"reasoningbank-{self._derived('name')[:12]}"

    @property
    def cookie(self) -> str:
        """What the cookie holds: not the token itself."""
        return self._derived("cookie")

    @property
    def csrf(self) -> str:
        """What every form holds."""
        return self._derived("csrf")

    def _derived(self, use: str) -> str:
        return hmac.new(self.token.encode(), use.encode(), hashlib.sha256).hexdigest()

    def stranger(self, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a request is none that this server's own pages make; None when it may be one.

        Args:
            headers: by lower-case name.
        """
        asked = headers.get("host", "")
        if not is_served(host_of(f"//{asked}"), self.host, self.names):
            return Refusal(421, "This host name is not served here: start the dashboard with --allow-host NAME.")
        origin = headers.get("origin")
        if origin is not None and not _is_own(origin, asked):
            return Refusal(403, "Requests from this origin are refused.")
        return None

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Tell whether a visitor showed the token before, by the cookie, or shows it as a bearer token."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same_secret(bearer.strip(), self.token):
            return True
        return same_secret(_cookies(headers.get("cookie", "")).get(self.cookie_name, ""), self.cookie)

    def may_change(self, headers: Mapping[str, str], form: Mapping[str, str]) -> Refusal | None:
        """Return why a request that would change something is refused; None when it may."""
        if self.read_only:
            return Refusal(403, "This dashboard is read-only: start it without --read-only to change anything.")
        if not same_secret(form.get(CSRF_FIELD) or headers.get(CSRF_HEADER, ""), self.csrf):
            return Refusal(403, "The form is not of this dashboard: load the page again, and send it again.")
        return None


def _is_own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}
