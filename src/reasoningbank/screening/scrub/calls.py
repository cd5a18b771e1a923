"""Secrets among the arguments of calls, which only the function, or what it is called on, explains."""

from __future__ import annotations

import re

from reasoningbank.screening.scrub.rule import Rule, Span
from reasoningbank.screening.scrub.shapes import Proof, is_secret, proof_of_name, words_of

_QUOTED = r"[\"'](?P<secret>[^\"'\n]{3,200}+)[\"']"
_ACCOUNT = r"[ \t]*(?:u|username=|user=)?[\"'][^\"'\n]{1,80}[\"'][ \t]*,[ \t]*(?:password=|pass=)?"

# (keyword, what stands between it and the secret): an account, and behind it what it signs in with.
_CALLS: tuple[tuple[str, str], ...] = (
    ("fernet(", r"[ \t]*b?"),
    ("sensitive(", r"[ \t]*"),
    *((f"{name}.connect(", _ACCOUNT) for name in ("oracle", "oracledb")),
    ("auth =", r"[ \t]*[(\[]" + _ACCOUNT),
    ("auth=", r"[ \t]*[(\[]" + _ACCOUNT),
    ("auth(", _ACCOUNT),
    ("login(", _ACCOUNT),
    ("signin(", _ACCOUNT),
    ("sign_in(", _ACCOUNT),
    ("authenticate(", _ACCOUNT),
    ("credential(", _ACCOUNT),
    ("credentials(", _ACCOUNT),
    ("userpassword(", _ACCOUNT),
    ("getconnection(", r"[^\"'\n,]{0,80}(?:[\"'][^\"'\n]{0,200}[\"'])?[ \t]*," + _ACCOUNT),
)
# What types into a field of a form; the field is named before, or in the same call.
_TYPING = ("type(", "fill(", "send_keys(", "sendkeys(", "settext(", "set_value(", "input_text(", "send(")
_FIELD = re.compile(r"[a-z_]*(?:passw|passphrase|passcode|passwort|pwd|\bpw\b|\botp\b|\bpin\b|secret)\w*")
_FIELD_FIRST = r"(?:[\"'](?P<field>[^\"'\n]{1,80}+)[\"'][ \t]*,[ \t]*)?"
_LAST_STATEMENT = re.compile(r"[;\n]")


def _argument(match: re.Match[str], text: str) -> Span | None:
    start, end = match.span("secret")
    value = text[start:end]
    return (start, end) if is_secret(value, Proof.PASSWORD) and proof_of_name(value) is None else None


def _typed(match: re.Match[str], text: str) -> Span | None:
    """Take what is typed into a field for passwords; its name may be an argument beside the text."""
    line = _LAST_STATEMENT.split(text[max(0, match.start() - 160) : match.start()])[-1].lower()
    field = (match["field"] or "").lower()
    start, end = match.span("secret")
    value = re.sub(r"(?:\\[nrt])+\Z", "", text[start:end])
    beside = text[match.end() : match.end() + 60].lower().split("\n")[0] if match["keyword"] == "send(" else ""
    meant = _FIELD.search(field) or (not field and (_FIELD.search(line) or _FIELD.search(beside)))
    taken = meant and is_secret(value, Proof.PASSWORD) and not (len(words_of(value)) > 3 and " " in value)
    return (start, start + len(value)) if taken else None


CALLS: tuple[Rule, ...] = (
    *(
        Rule("call", (name,), re.escape(name) + between + _QUOTED, folded=True, find=_argument)
        for name, between in _CALLS
    ),
    *(
        Rule(
            "call",
            (name,),
            rf"(?P<keyword>{re.escape(name)})[ \t]*{_FIELD_FIRST}{_QUOTED}[ \t]*[,)]",
            folded=True,
            find=_typed,
        )
        for name in _TYPING
    ),
)
