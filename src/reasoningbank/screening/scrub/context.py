"""Secrets that only their surroundings give away: assignments and what is said like them.

One pattern per noun (`password`, `token`, `key`, ...) finds `noun, link, value` in any syntax; the name around the
noun, the kind of link, and the value's own looks then decide (`shapes`). The name stays, the value goes.
"""

from __future__ import annotations

import re

from reasoningbank.screening.scrub.rule import Rule, Span
from reasoningbank.screening.scrub.shapes import (
    Proof,
    has_digit,
    has_digit_and_letter,
    has_sign,
    is_code,
    is_phrase,
    is_plain,
    is_secret,
    is_stand_in,
    proof_of_name,
    roughness,
    words_of,
)

_W = r"[ \t\u00a0]{0,32}+"
_QUOTE = r"(?:\\{0,6}[\"'`])"
_VERBS = r"is|was|are|were|equals|reads|became|becomes|to|as"
_FILLERS = r"(?:[ \t]+(?:now|still|currently|just|the|set|value|string|changed|to)(?![\w\-]))"

# What may stand between a name and its value; the first that fits counts. In a sentence (`said`) or without any sign
# (`next`) only a value with a digit or a sign in it can be told from a word; the look ahead keeps plain prose cheap.
_LINK = (
    rf"(?:['’]s(?=[ \t]))?+(?P<close>[\"']\]|{_QUOTE}|\])?+(?:[*_]{{2}})?+(?:[ \t]\([^()\n]{{1,40}}\)(?=[ \t]?[:=]))?+"
    r"(?:"
    rf"{_W}:{_W}[&?]?[a-z](?:[\w\[\]|.?<>]|[ ](?!=)){{0,30}}+[ ]?=(?![=>]){_W}(?P<typed>)"  # password: str = "..."
    rf"|{_W}(?P<sign>:=|=>|->|===?|!==?|[:=：＝]|(?<=[ \t])\|(?=[ \t])){_W}(?:[*_]{{2}}{_W})?+"  # noqa: RUF001
    r"(?P<below>(?:[|>][+-]?)?(?:\r?\n[ \t]{0,40}){1,2})?+"
    rf"|(?:[ \t][^<>\n]{{1,60}}+)?>{_W}(?P<xml>)"  # <password>...</password>
    rf"|{_W},?\s{{0,20}}+{_QUOTE}?value{_QUOTE}?{_W}[:=]{_W}(?P<pair>)"  # name: DB_PASSWORD, value: ...
    rf"|{_W}[,(]{_W}(?={_QUOTE})(?P<call>)"  # setPassword("..."), setenv("TOKEN", "...")
    # the password for the staging box is ...
    rf"|(?:(?:[ \t]+(?!(?:{_VERBS})(?!\w))[a-z][a-z'’]{{0,14}}+(?![\w\-])){{0,6}}+"
    rf"(?:[ \t]+(?P<verb>{_VERBS}){_FILLERS}{{0,3}}+:?|:)[ \t]+(?P<said>)"
    r"|[ \t]{1,4}(?P<next>))"  # the token abc...
    r"(?=(?:[\"'`][^\"'`\n0-9!@#$%^&+~]{0,60}+|[^\s0-9!@#$%^&+~]{0,60}+)[0-9!@#$%^&+~])"
    r")"
)
_VALUE = (
    r"(?:[bfru@]{1,2}(?=[\"']))?[*_(]{0,3}+(?:"
    rf"(?P<open>\\{{0,6}}[\"'`])(?P<quoted>(?:(?!(?P=open))(?:\\.|[^\\\n])){{1,4096}}+)(?P=open)"
    rf"|{_QUOTE}?+(?P<bare>[^\s\"'`,;<>(){{}}\[\]|\\&=]"
    r"(?:[^\s\"'`,;<>&\\]++|\\(?![nrt\"'`\\])|&(?![\w.\-]{1,40}+=))*+)"
    r")"
)

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,16})[ \t]\Z")
_SETTER = re.compile(r"(?:set|chang|reset|rotat|updat|replac|switch)\w*\b[^.\n]{0,50}\Z", re.IGNORECASE)
_DECLARES = re.compile(
    r"(?:\benv|\barg|\bsetx|\bsetenv|\bdefine|\bset -\w+|\blogin[ \t]+\S{1,60}|\bexport)[ \t]+\Z", re.IGNORECASE
)
_SETS = re.compile(r"--set(?:-string)?[ =](?:[^\s]{1,200},)?\Z")
_SQL = re.compile(r"(?:with|encrypted|set|for[ \t]+\S{1,60}|=)[ \t]+\Z", re.IGNORECASE)


def _name(match: re.Match[str], text: str) -> tuple[str, str, str]:
    """Return the whole name around the noun, the word before it, and the text before both."""
    start = match.start()
    before = text[max(0, start - 120) : start]
    rest = before.rstrip(_NAME_CHARACTERS)
    name = before[len(rest) :] + text[start : match.end("tail")].rstrip("-.")
    if rest[-1:] == "\\" and name[0] in "nrt":
        name = name[1:]  # it begins after an escaped line break
    word = _WORD_BEFORE.search(before) if len(rest) == len(before) else None
    return name, word[1] if word else "", rest


def is_assigned(value: str, proof: Proof, *, name: str, quoted: bool, tight: bool, line: bool) -> bool:
    """Tell whether a value that was assigned to a name is a secret.

    Args:
        quoted: it is a literal for sure; otherwise it may be code.
        tight: `NAME=value`, as in environments and query strings, where a bare word is a literal too.
        line: `name: value` is all of the line, as in YAML.
    """
    if names_itself(value, name) or (not quoted and CAPITALS.match(value)):
        return False
    if quoted and " " in value:
        mixed = any(has_digit_and_letter(word) or has_sign(word) for word in value[:200].split())
        return proof is Proof.PASSWORD and (mixed or "phrase" in name.lower()) and not is_stand_in(value)
    word = value.isalpha() and not is_stand_in(value)
    if not quoted and is_code(value):
        return word and ((tight and len(value) >= 4) or (line and value.islower() and len(value) >= 5))
    if proof is Proof.PASSWORD:
        number = value.isdigit() and words_of(name)[-1] in ("pass", "pwd")
        return is_secret(value, proof) and not number and (quoted or tight or is_said(value, proof))
    return is_secret(value, proof) or (quoted and word and len(words_of(name)) > 1 and len(value) >= 8)


def is_assigned_to(name: str, value: str) -> bool:
    """Tell whether `value` is a secret because it stands under `name` in a mapping."""
    proof = proof_of_name(name)
    return (
        proof is not None and bool(value) and is_assigned(value, proof, name=name, quoted=True, tight=False, line=False)
    )


# A word in capitals stands for a value: PASSWORD, FUZZ, FILE0, ^PASS^.
CAPITALS = re.compile(r"\^?[A-Z][A-Z_]{,11}\d{0,2}(?::[A-Z]+\d{0,2})?\^?\Z")


def names_itself(value: str, name: str) -> bool:
    """Tell whether a value only repeats its name or is one (`--dbpass=dbpass`, `password=user_password`)."""
    words = words_of(value)
    named = any(c in value for c in "_-.") and proof_of_name(value) is not None and not has_digit(value)
    return words == words_of(name) or named


def is_said(value: str, proof: Proof) -> bool:
    """Tell whether the value a sentence gives (`the password is ...`) is a secret: it must not look like a word."""
    if proof is Proof.PASSWORD:
        number = value.isdigit() and len(value) >= 4
        mixed = (has_digit_and_letter(value) or has_sign(value)) and (not is_plain(value) or is_phrase(value))
        return (number or mixed) and len(value) >= 5 and not is_code(value) and is_secret(value, proof)
    return is_secret(value, proof) and roughness(value) > 0.25 and not is_code(value)


def is_beside(value: str, proof: Proof, *, quoted: bool) -> bool:
    """Tell whether what merely follows a noun (`the token abc...`) is a secret."""
    if proof is Proof.PASSWORD:
        cased = value.lower() != value != value.upper()
        strong = (len(value) >= 8 and (cased or has_sign(value))) or (quoted and len(value) >= 6)
        return strong and has_digit_and_letter(value) and not is_plain(value) and is_secret(value, proof)
    return is_secret(value, Proof.KEY if quoted else Proof.HINT) and roughness(value) > 0.25


def _named(match: re.Match[str], text: str) -> Span | None:
    """Decide on one `noun, link, value`."""
    name, word, before = _name(match, text)
    proof = proof_of_name(f"{word} {name}")
    # `the key` is no name; `the_key` may be one.
    if proof is None or (word and proof is Proof.HINT):
        return None
    quoted = match["quoted"] is not None
    start, end = match.span("quoted" if quoted else "bare")
    value = text[start:end] if quoted else text[start:end].rstrip(").]}:*_?|")
    end = start + len(value)
    if value and _holds(match, text, value, proof, name=name, before=before, quoted=quoted):
        return start, end
    return None


def _holds(match: re.Match[str], text: str, value: str, proof: Proof, *, name: str, before: str, quoted: bool) -> bool:
    """Tell whether the value is a secret, by the kind of link."""
    if match["said"] is not None:
        between = text[match.end("tail") : match.end("verb")] if match["verb"] is not None else ""
        set_to = _SETTER.search(before) or _SETTER.search(between)
        weak = match["verb"] is None or (match["verb"] in ("to", "as") and not set_to)
        return is_beside(value, proof, quoted=quoted) if weak else is_said(value, proof)
    if match["next"] is not None:
        declared = _DECLARES.search(before) or (quoted and proof is Proof.PASSWORD and _SQL.search(before))
        return is_secret(value, proof) if declared else is_beside(value, proof, quoted=quoted)
    if match["below"] or match["call"] is not None:
        return has_digit(value) and is_secret(value, min(proof, Proof.KEY)) and (quoted or not is_code(value))
    link = match.string[match.end("tail") : match.start("open" if quoted else "bare")]
    given = name.isupper() or name[0] == "-" or before[-1:] in ("?", "&", ";") or _SETS.search(before) is not None
    tight = link == "=" and (given or (is_phrase(value) and not quoted))
    alone = not before.rsplit("\n", 1)[-1].strip(" \t-")
    line = alone and link.strip() == ":" and match.string[match.end() : match.end() + 1] in ("", "\r", "\n")
    return is_assigned(value, proof, name=name, quoted=quoted, tight=tight, line=line)


_FOREIGN = ("kennwort", "contraseña", "senha", "пароль", "密码", "密碼", "パスワード", "비밀번호")
_NOUNS = {
    "pass": "password",
    "pwd": "password",
    "pw": "password",
    "psw": "password",
    "secret": "secret",
    "token": "token",
    "key": "key",
}
_NOUNS |= {"cred": "secret", "auth": "secret"} | dict.fromkeys(_FOREIGN, "password")

NAMED: tuple[Rule, ...] = tuple(
    Rule(name, (noun,), rf"{noun}(?P<tail>[\w\-.]{{0,40}}+){_LINK}{_VALUE}", folded=True, find=_named)
    for noun, name in _NOUNS.items()
)
