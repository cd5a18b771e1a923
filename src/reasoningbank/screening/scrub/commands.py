"""Secrets on command lines: options that are named for what they take, and options that only the command explains."""

from __future__ import annotations

import re

from reasoningbank.screening.scrub.context import CAPITALS, names_itself
from reasoningbank.screening.scrub.rule import Rule, Span
from reasoningbank.screening.scrub.shapes import Proof, is_code, is_path, is_secret, proof_of_name


def _is_option(value: str, proof: Proof) -> bool:
    """Tell whether what follows an option (`--password hunter2`) is a secret."""
    short = proof is Proof.PASSWORD and len(value) == 3 and value.isalnum()
    return value[0] != "-" and not CAPITALS.match(value) and not is_path(value) and (is_secret(value, proof) or short)


def _password(match: re.Match[str], text: str) -> Span | None:
    start, end = match.span("secret")
    return (start, end) if _is_option(text[start:end], Proof.PASSWORD) else None


# Commands whose option for the password has no telling name: (option, with a space before the value), in lower case.
_OPTIONS = {
    ("p", False): re.compile(r"\b(?:mysql\w*|mariadb\w*|7za?|rar)\b[^\n|;]*\Z"),
    ("p", True): re.compile(
        r"\b(?:login|sshpass|mongo\w*|cqlsh|zip|unzip|sqlcmd|xfreerdp|rdesktop|ipmitool)\b[^\n|;]*\Z"
    ),
    ("a", True): re.compile(r"\b(?:redis|valkey)-cli\b[^\n|;]*\Z"),
    ("w", True): re.compile(r"\bldap\w+\b[^\n|;]*\Z"),
}


def _attached(match: re.Match[str], text: str) -> Span | None:
    """Take the value of `mysql -pVALUE`; `-P3306` is a port."""
    start, end = match.span("secret")
    return (start, end) if text[start - 1] == "p" and _is_option(text[start:end], Proof.PASSWORD) else None


_WITH_ACCOUNT = re.compile(r"\b(?:curl|wget|https?|xh|skopeo|aria2c)\b[^\n|;]*\Z")


def _option(match: re.Match[str], text: str) -> Span | None:
    """Decide on `--name value`, `-p value`, `-pvalue` and `-u user:value`."""
    start, end = match.span("quoted" if match["quoted"] is not None else "bare")
    value, name = text[start:end], match["name"]
    before = text[max(0, match.start() - 300) : match.start()].lower()
    if match["short"] in ("u", "user", "proxy-user") and _WITH_ACCOUNT.search(before):
        user, _, value = value.partition(":")
        start = end - len(value)
        taken = bool(value) and not value.isdigit() and "/" not in user and _is_option(value, Proof.PASSWORD)
        return (start, end) if taken else None
    if match["short"] == "p" and not match["space"] and text[match.start("short")] == "P":
        return None  # a port
    if name is None:
        command = _OPTIONS.get((match["short"], bool(match["space"])))
        attached = match["quoted"] is not None and not match["space"] and match["short"] == "p"
        proof = Proof.PASSWORD if attached or (command and command.search(before)) else None
    else:
        proof = proof_of_name(text[slice(*match.span("name"))])
        if text.startswith("-p", match.start()) and _OPTIONS["p", False].search(before):  # mysql -phunter2
            (start, end), proof = match.span("name"), Proof.PASSWORD
            start, name = start + 1, None
            value = text[start:end]
    snake = is_code(value) and not value.isalpha()
    if proof is None or snake:
        return None
    taken = not names_itself(value, name or "") and _is_option(value, proof)
    return (start, end) if taken else None


_DASHED = (
    r"-(?<![^\s\"'`(\[,|=]-)"
    r"(?:-?(?P<short>p|a|w|u|user|proxy-user)(?![a-z\-])|-?(?P<name>[a-z][\w\-.]{1,40}+)(?=[ \t]))(?P<space>[ \t]+|=)?"
    r"(?:(?P<open>\\{0,6}[\"'])(?P<quoted>(?:(?!(?P=open))[^\n]){2,400}+)(?P=open)|(?P<bare>[^\s\"'`|;<>]{3,}+))"
)

_ARGUMENT = r"[\"']?(?P<secret>[^\s\"'|;]{3,}+)"

# (keyword, pattern after it)
_COMMANDS: tuple[tuple[str, str], ...] = (
    ("smbclient", r"\b[^\n|;]{0,200}?[ \t]-u[ \t]*[\"']?[^\s%\"']{1,60}%(?P<secret>[^\s\"']{3,}+)"),
    (
        "htpasswd",
        r"(?=[^\n|;]{0,40}[ \t]-[a-z]*b)(?:[ \t]+-[a-z0-9]+(?:[ \t]+\d+)?){1,6}+(?:[ \t]+[^\s\-]\S*){2}[ \t]+"
        + _ARGUMENT,
    ),
    ("sqlplus", r"[ \t][^\n|;]{0,80}?[\w.]{1,60}/(?P<secret>[^\s@/\"']{3,}+)@"),
    ("jdbc:oracle:thin:", r"[\w.]{1,60}/(?P<secret>[^\s@/\"']{3,}+)@"),
    ("identified by", r"[ \t]+[\"'](?P<secret>[^\s\"'|;]{3,}+)"),
    ("convertto-securestring", rf"[ \t]+(?:-string[ \t]+)?{_ARGUMENT}"),
    (
        "echo",
        r"[ \t]+(?:-n[ \t]+)?[\"']?(?P<secret>[^\s\"'|]{3,100}+)[\"']?[ \t]*\|[ \t]*"
        r"(?:sudo[ \t]+-s|(?:docker|podman)[ \t]+login|passwd|chpasswd|gpg)",
    ),
    ("net use ", r"[^\n|]{0,80}?/user:\S{1,60}[ \t]+(?P<secret>[^\s/]{3,}+)"),
    ("net user", r"[ \t]+\S{1,60}[ \t]+(?P<secret>[^\s/]{3,}+)[ \t]+/"),
    ("5432:", r"[\w*\-]{1,60}:[\w*\-]{1,60}:(?P<secret>[^\s:]{3,}+)"),
)

COMMANDS: tuple[Rule, ...] = (
    *(
        Rule(
            "command-line",
            (command,),
            command + r"[\w\-]*(?:[ \t][^\n|;]{0,200}?)?[ \t]-p(?!assword|ort|rotocol)(?P<secret>[^\s\"'|;]{4,}+)",
            folded=True,
            find=_attached,
        )
        for command in ("mysql", "mariadb", "sshpass")
    ),
    Rule("command-line", ("-",), _DASHED, folded=True, find=_option),
    *(
        Rule("command-line", (keyword,), re.escape(keyword) + rest, folded=True, find=_password)
        for keyword, rest in _COMMANDS
    ),
)
