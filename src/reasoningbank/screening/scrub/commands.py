"""Secrets on command lines: options that are named for what they take, and what only the command explains."""

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


# Options without a telling name, and the commands that take a secret by them: after a space or `=`, or right behind.
_APART = {
    "p": r"login|unlock-keychain|sshpass|mongo\w*|cqlsh|sqlcmd|xfreerdp|rdesktop|ipmitool|psexec\w*|winrs|nxc|netexec"
    r"|crackmapexec|racadm|twine|veracrypt|ncftp\w*|useradd|usermod|zip|rar|clickhouse\w*|vncviewer",
    "P": r"zip|unzip|sqlcmd|bcp|mosquitto_\w+|ipmitool|ssh-keygen",
    "a": r"redis-cli|valkey-cli|keydb-cli",
    "A": r"snmp\w+",
    "X": r"snmp\w+",
    "w": r"ldap\w+",
    "s": r"ldappasswd",
    "N": r"ssh-keygen",
    "k": r"openssl[ \t]+(?:enc|aes|des|camellia|chacha)",
    "hp": r"rar",
    "b": r"gh[ \t]+secret",
    "new": r"keytool|-storepasswd",
    "body": r"gh[ \t]+secret",
    "value": r"keyvault[ \t]+secret[ \t]+set|securestring",
    "id": r"vault[ \t]+token",
    "secret-string": r"secretsmanager",
    "admin-key": r"az",
}
_ATTACHED = {
    "p": r"mysql\w*|mariadb\w*|sshpass|mongo\w*|login|7z[ar]?|unrar|rar",
    "hp": r"rar",
    "w": r"ldap\w+",
    "b": r"gh[ \t]+secret",
}


def _commands(table: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {option: re.compile(rf"(?:\A|[^\w.-])(?:{commands})\b[^\n|;]*\Z") for option, commands in table.items()}


_APART_OF, _ATTACHED_TO = _commands(_APART), _commands(_ATTACHED)


def _before(match: re.Match[str], text: str) -> str:
    """Return what stands before an option, in lower case: the command that it belongs to is in it."""
    return text[max(0, match.start() - 300) : match.start()].lower()


def _unnamed(match: re.Match[str], text: str) -> Span | None:
    """Decide on `-p value` and `-pvalue` by the command: `-P` is a password here and a port there."""
    option = text[slice(*match.span("option"))]
    apart, quoted = bool(match["link"]), match["quoted"] is not None
    command = (_APART_OF if apart else _ATTACHED_TO).get(option)
    told = quoted and not apart and option == "p"  # what else is written -p'...'?
    if not told and (command is None or not command.search(_before(match, text))):
        return None
    if not apart and match["long"]:
        return None
    start, end = match.span("quoted" if quoted else "bare")
    return (start, end) if _is_option(text[start:end], Proof.PASSWORD) else None


_OPTIONS = "|".join(sorted({*map(str.lower, _APART), *_ATTACHED}, key=len, reverse=True))
_VALUE = r"(?:(?P<open>\\{0,6}[\"'])(?P<quoted>(?:(?!(?P=open))[^\n]){2,400}+)(?P=open)|(?P<bare>[^\s\"'`|;<>]{3,}+))"
_BEGIN = r"-(?<![^\s\"'`(\[,|=]-)(?P<long>-)?"
_UNNAMED = rf"{_BEGIN}(?P<option>{_OPTIONS})(?P<link>[ \t]+|=)?(?(link)|(?<=[a-z])){_VALUE}"

_WITH_ACCOUNT = re.compile(r"\b(?:curl|wget|https?|xh|skopeo|aria2c|lftp)\b[^\n|;]*\Z")
# The account's option may stand in a bundle of flags: `curl -sSu user:value`.
_ACCOUNT = rf"{_BEGIN}(?:[fgiklsv]{{0,5}}u|a|auth|user|proxy-user|cert|e)(?:[ \t]+|=){_VALUE}"


def _account(match: re.Match[str], text: str) -> Span | None:
    """Decide on `-u user:value`."""
    start, end = match.span("quoted" if match["quoted"] is not None else "bare")
    if not _WITH_ACCOUNT.search(_before(match, text)):
        return None
    user, colon, value = text[start:end].partition(":")
    if not colon:
        user, _, value = text[start:end].partition(",")
    start = end - len(value)
    taken = bool(value) and not value.isdigit() and "/" not in user and _is_option(value, Proof.PASSWORD)
    return (start, end) if taken else None


def _named(match: re.Match[str], text: str) -> Span | None:
    """Decide on `--name value`."""
    start, end = match.span("quoted" if match["quoted"] is not None else "bare")
    value, name = text[start:end], text[slice(*match.span("name"))]
    if value.startswith("pass:"):
        return None  # it is said where from, and what: a rule of its own
    proof = proof_of_name(name)
    snake = is_code(value) and not value.isalpha()
    taken = proof is not None and not snake and not names_itself(value, name) and _is_option(value, proof)
    return (start, end) if taken else None


_NAMED = rf"{_BEGIN}(?P<name>[a-z][\w\-.]{{1,40}}+)[ \t]+{_VALUE}"

_ARGUMENT = r"[\"']?(?P<secret>[^\s\"'|;]{3,}+)"
_WORD = r"[^\s\-|;][^\s|;]{0,80}+"
_PIPED_TO = (
    r"(?:sudo(?![ \t]+chpasswd)|(?:docker|podman|nerdctl|helm[ \t]+registry)[ \t]+login|passwd|gpg"
    r"|gh[ \t]+(?:auth|secret)|wrangler|vercel[ \t]+env|kinit|cryptsetup|gcloud[ \t]+secrets|gocryptfs|kubeseal|age)\b"
)
_TOLD_BY = r"(?P<secret>[^\s\"'|]{3,100}+)"

# (keyword, pattern after it)
_COMMANDS: tuple[tuple[str, str], ...] = (
    (
        "htpasswd",
        r"(?=[^\n|;]{0,60}[ \t]-[a-z]*b)(?:[ \t]+-[a-z0-9]+(?:[ \t]+\d+)?){1,6}+(?:[ \t]+[^\s\-]\S*){1,2}[ \t]+"
        + _ARGUMENT
        + r"[\"']?[ \t]*(?=\n|\Z|[|;&`.,)])",
    ),
    ("mosquitto_passwd", rf"[ \t]+-b[ \t]+{_WORD}[ \t]+{_WORD}[ \t]+{_ARGUMENT}"),
    ("rabbitmqctl", rf"[ \t]+(?:add_user|change_password)[ \t]+{_WORD}[ \t]+{_ARGUMENT}"),
    ("mysqladmin", rf"[ \t][^\n|;]{{0,120}}?[ \t]?password[ \t]+{_ARGUMENT}"),
    ("wpa_passphrase", rf"[ \t]+(?:\"[^\"\n]{{1,40}}\"|{_WORD})[ \t]+{_ARGUMENT}"),
    ("nmcli", rf"[ \t][^\n|;]{{0,120}}?[ \t](?:password|psk)[ \t]+{_ARGUMENT}"),
    ("psk", r"[ \t]*=?[ \t]*[\"']{1,2}(?P<secret>[^\s\"']{8,63}+)"),
    ("requirepass", rf"[ \t]+{_ARGUMENT}"),
    ("masterauth", rf"[ \t]+{_ARGUMENT}"),
    ("auth default", rf"[ \t]+{_ARGUMENT}"),
    ("openssl passwd", rf"(?:[ \t]+-[\w]+)*[ \t]+{_ARGUMENT}"),
    *(
        (tool, r"[ \t][^\n|;]{0,80}?[\w.]{1,60}/(?P<secret>[^\s@/\"']{3,}+)(?=[@ \t\n]|\Z)")
        for tool in ("impdp", "expdp")
    ),
    *((tool, r"[ \t][^\n|;]{0,80}?[\w.]{1,60}/(?P<secret>[^\s@/\"']{3,}+)@") for tool in ("sqlplus", "rman", "sqlldr")),
    ("isql", rf"[ \t]+{_WORD}[ \t]+{_WORD}[ \t]+{_ARGUMENT}"),
    ("jdbc:oracle:thin:", r"[\w.]{1,60}/(?P<secret>[^\s@/\"']{3,}+)@"),
    ("identified by", r"[ \t]+[\"'](?P<secret>[^\s\"'|;]{3,}+)"),
    ("identified with", r"[ \t]+[\w\"'`]{3,60}[ \t]+by[ \t]+[\"'](?P<secret>[^\s\"'|;]{3,}+)"),
    ("convertto-securestring", rf"[ \t]+(?:-string[ \t]+)?{_ARGUMENT}"),
    ("echo", rf"[ \t]+(?:-n[ \t]+)?[\"']?{_TOLD_BY}[\"']?[ \t]*\|[ \t]*{_PIPED_TO}"),
    ("printf", rf"[ \t]+(?:[\"']%s(?:\\n)?[\"'][ \t]+)?[\"']?{_TOLD_BY}[\"']?[ \t]*\|[ \t]*{_PIPED_TO}"),
    ("echo", r"[ \t]+[\"']?[\w.\-]{1,40}:(?P<secret>[^\s\"'|]{3,100}+)[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"),
    ("net use ", r"[^\n|]{0,80}?/user:\S{1,60}[ \t]+(?P<secret>[^\s/]{3,}+)"),
    ("net use ", r"\S{1,4}[ \t]+\\\\[^\s]{1,80}[ \t]+(?P<secret>[^\s/*]{3,}+)[ \t]+/user:"),
    ("net user", r"[ \t]+\S{1,60}[ \t]+(?P<secret>[^\s/]{3,}+)[ \t]+/"),
    # A line of .pgpass with stars in it.
    (":*:", r"(?:\*:)?[\w.\-]{1,60}:(?P<secret>[^\s:*]{3,}+)(?![:\w])"),
    ("5432:", r"[\w*\-]{1,60}:[\w*\-]{1,60}:(?P<secret>[^\s:]{3,}+)"),
    *(
        (tool, r"\b[^\n|;]{0,200}?[ \t]-u[ \t]*[\"']?[^\s%\"']{1,60}%(?P<secret>[^\s\"']{3,}+)")
        for tool in ("smbclient", "rpcclient")
    ),
    ("pdftk", r"\b[^\n|;]{0,200}?(?:owner|user|input)_pw[ \t]+(?P<secret>[^\s\"']{3,}+)(?![^\n]{0,200}_pw)"),
    ("owner_pw", rf"[ \t]+{_ARGUMENT}"),
    ("--encrypt", rf"[ \t]+{_ARGUMENT}(?=[\"']?[ \t]+\S+[ \t]+(?:40|128|256)\b)"),
    ("--encrypt", r"[ \t]+\S{3,100}[ \t]+(?P<secret>[^\s\"']{3,}+)(?=[ \t]+(?:40|128|256)\b)"),
    ("_authtoken", rf"[ \t]+{_ARGUMENT}"),
    ("http-basic.", rf"[\w.\-]{{1,60}}[ \t]+{_WORD}[ \t]+{_ARGUMENT}"),
    ("rclone obscure", rf"[ \t]+{_ARGUMENT}"),
    ("rclone config", rf"[ \t][^\n|;]{{0,200}}?[ \t]pass[ \t]+{_ARGUMENT}"),
    ("private-key", r"[ \t]+<\(echo[ \t]+(?P<secret>[a-z0-9+/]{42,44}={0,2})"),
    ("-e ", r"(?P<cert>[\w./\-]{1,80}\.(?:pem|p12|crt)):(?P<secret>[^\s\"']{3,}+)"),
)

# `-passin pass:value`: a form of its own, so that any word is a secret.
_SOURCED = (
    r"-(?:pass|passin|passout|ks-pass|key-pass)[ \t=]+(?:"
    r"[\"'](?=pass:[^\"'\n]*[\"'])pass:(?P<quoted>[^\"'\n]{3,200}+)|[\"']?pass:(?P<secret>[^\s\"'|;]{3,}+))"
)
_SLASHED = r"(?:(?<=\s)|(?<=\A))[/\-](?:(?:p|pw|pass|password|rp):|rp[ \t]+)(?P<secret>[^\s\"'|;]{3,}+)"


def _source(match: re.Match[str], text: str) -> Span | None:
    start, end = match.span("quoted" if match["quoted"] is not None else "secret")
    return (start, end) if _is_option(text[start:end], Proof.PASSWORD) else None


COMMANDS: tuple[Rule, ...] = (
    Rule("command-line", ("-",), _UNNAMED, folded=True, find=_unnamed),
    Rule("command-line", ("-",), _ACCOUNT, folded=True, find=_account),
    Rule("command-line", ("-",), _NAMED, folded=True, find=_named),
    Rule("command-line", ("pass:",), _SOURCED, folded=True, find=_source),
    Rule("command-line", ("/p:", "/pw:", "/pass:", "/password:", "/rp", "-p:"), _SLASHED, folded=True, find=_password),
    *(
        Rule("command-line", (keyword,), re.escape(keyword) + rest, folded=True, find=_password)
        for keyword, rest in _COMMANDS
    ),
)
