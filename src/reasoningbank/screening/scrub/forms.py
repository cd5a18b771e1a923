"""The table of secrets told by their own form: tokens, keys, URLs, headers."""

from __future__ import annotations

import base64
import binascii
import re

from reasoningbank.screening.scrub.formats import PREFIXED
from reasoningbank.screening.scrub.rule import Finder, Rule, Span, secret_span
from reasoningbank.screening.scrub.shapes import Proof, has_digit, is_secret, is_stand_in, roughness

# One letter over and over is a key with which somebody tries the rules; so many x stand for any key.
_REPEATED = re.compile(r"([a-wyzA-WYZ])\1{15}\Z")


def _made_by_machine(match: re.Match[str], text: str) -> Span | None:
    """Keep examples (`ghp_xxxx`, `xoxb-your-token`) and names in words that happen to begin like a token."""
    start, end = secret_span(match)
    value = text[start:end]
    if value.isupper():  # AKIA... with EXAMPLE in it is still a key to whoever reads it
        return (start, end) if len(set(value)) > 6 else None
    random = has_digit(value) or (value != value.lower() and roughness(value) > 0.2) or bool(_REPEATED.search(value))
    return (start, end) if random and not is_stand_in(value) else None


def _if(proof: Proof) -> Finder:
    def find(match: re.Match[str], text: str) -> Span | None:
        start, end = secret_span(match)
        return (start, end) if is_secret(text[start:end], proof) else None

    return find


def _with_head(length: int) -> Finder:
    """The token began `length` characters (or as many more digits) before the literal that it was found by."""

    def find(match: re.Match[str], text: str) -> Span | None:
        start, end = match.span()
        before = text[max(0, start - length - 8) : start - length]
        return len(before.rstrip("0123456789")) - len(before) + start - length, end

    return find


def _at_word(prefix: str) -> str:
    """Return a pattern of `prefix` that counts at the start of a word only; an escape (`\n`, `%3D`) is no letter.

    The lookbehinds come after the literal, so that the search for it stays a plain search for bytes.
    """
    literal = re.escape(prefix)
    if not prefix[0].isalnum():
        return literal
    escapes = (r"\\[nrt]", r"\\u00[0-9a-fA-F]{2}", r"\\x[0-9a-fA-F]{2}", r"%[0-9a-fA-F]{2}", r"\[\dm", r"\d\dm")
    return rf"{literal}(?:(?<![A-Za-z0-9]{literal})|{'|'.join(f'(?<={escape}{literal})' for escape in escapes)})"


def _prefixed(name: str, prefix: str, rest: str, find: Finder = _made_by_machine) -> Rule:
    return Rule(name, (prefix.lower(),), _at_word(prefix) + rest, find=find)


# The body of a key block runs to the next five dashes. Where those are not the END line, the block was cut off (or
# another begins), and only what looks like lines of a key is taken.
_BREAK = r"""(?:[\s>|#*+"',;]|\\+[nrt])"""
_RUN = r"(?:[A-Za-z0-9+/]|\\/)"
_CUT = (
    rf"(?:{_BREAK}*+(?:[A-Z][\w\-]{{2,20}}:[ ][^\n\\]{{1,80}}|{_RUN}{{12,}}+={{0,2}}))*+"
    rf"(?:{_BREAK}{{1,9}}={{0,1}}{_RUN}{{2,}}+={{0,2}}(?!\s*\w))?+"
)
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_BREAK}*+(?=(?P<cut>{_CUT}))(?:(?P<secret>[^-]*+(?:-(?!----)[^-]*+)*+)(?=-----END))?+"
)
_SSH2_KEY = (
    r"---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
    rf"{_BREAK}*+(?=(?P<cut>{_CUT}))(?:(?P<secret>[^-]*+(?:-(?!---)[^-]*+)*+)(?=---- END))?+"
)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")


def _key_body(match: re.Match[str], text: str) -> Span | None:
    """Keep blocks that hold no key: prose that quotes the BEGIN line, or a body that was dropped before."""
    name = "secret" if match["secret"] is not None else "cut"
    for group in (name, "cut"):
        start, end = match.span(group)
        body = text[start : min(end, start + 20_000)]
        in_runs = sum(map(len, _BASE64_RUN.findall(body)))
        if in_runs >= 16 and 2 * in_runs > len(body) - body.count(" "):
            return start, start + len(text[start:end].rstrip())
    return None


def _basic(match: re.Match[str], text: str) -> Span | None:
    """Take what decodes to `user:password`."""
    start, end = match.span("secret")
    try:
        decoded = base64.b64decode(text[start : min(end, start + 400)].rstrip("=") + "==")
    except binascii.Error:
        return None
    return (start, end) if b":" in decoded and decoded.isascii() else None


def _discord(match: re.Match[str], text: str) -> Span | None:
    """Take id.time.signature, each in random characters; module paths and host names are words."""
    start, end = match.span()
    before = text[max(0, start - 40) : start]
    head = re.split(r"[^\w\-]", before)[-1]
    random = 23 <= len(head) <= 30 and roughness(head) > 0.3 and is_secret(text[start + 8 : end], Proof.HINT)
    return (start - len(head), end) if random else None


_COOKIE_ATTRIBUTES = ("path", "domain", "expires", "max-age", "samesite", "version")
_SESSION = ("sess", "sid", "csrf", "xsrf", "auth", "jwt", "token", "remember", "login")


def _in_cookie(match: re.Match[str], text: str) -> Span | None:
    """Take the values of a cookie header that identify a session, by their name or because they are random."""
    start, end = match.span("secret")
    before = text[max(0, start - 4_000) : start - 1].lower()
    line = before[max(before.rfind("\n"), before.rfind("\\n")) + 1 :]
    name = re.split(r"[;\s\"',:]", line[-80:])[-1]
    if "cookie" not in line or name in _COOKIE_ATTRIBUTES:
        return None
    proof = Proof.KEY if any(part in name for part in _SESSION) else Proof.HINT
    return (start, end) if is_secret(text[start:end], proof) else None


_DATABASE = re.compile(
    r"(?:postgres|mysql|mariadb|mongodb|redis|amqp|mssql|oracle|clickhouse|neo4j|bolt|ldap|smtp|ftp)[\w+]*\Z"
)
_EXAMPLE_PASSWORDS = ("password", "passwd", "pass", "pwd", "secret", "token")


def _url_password(match: re.Match[str], text: str) -> Span | None:
    """Keep templates (`${PASSWORD}`, `<password>`), the word itself, and `host:port/...@...`."""
    group = "secret" if match["secret"] is not None else "slashed"
    start, end = match.span(group)
    value = text[start:end]
    template = value[0] in "$<{[*%" and not re.match(r"%[0-9A-Fa-f]{2}", value)
    if template or value.lower() in _EXAMPLE_PASSWORDS or re.fullmatch(r"(?:x{3,}|\.{3}|…)", value.lower()):
        return None
    if text.startswith("sha256:", end + 1):  # an image: docker://alpine:3.19@sha256:...
        return None
    scheme = text[max(0, match.start() - 24) : match.start()].lower()
    return (start, end) if group == "secret" or _DATABASE.search(scheme) else None


_W = r"[ \t]{0,8}"
_SLASH = r"\\?/"
_HOSTED = rf"(?:https?:{_SLASH}{_SLASH})?"
_PATH = r"(?:\\?[/\w@+%\-])"
_KEY, _HINT = _if(Proof.KEY), _if(Proof.HINT)

_BLOCKS: tuple[Rule, ...] = (
    Rule("private-key", ("private key",), _PRIVATE_KEY, find=_key_body),
    Rule("private-key", ("private key",), _SSH2_KEY, find=_key_body),
    Rule("private-key", ("private-lines:",), rf"Private-Lines: \d+(?P<secret>(?:{_BREAK}++{_RUN}{{20,}}+={{0,2}})++)"),
)

# Each is a rule, its keyword, and the host with the path.
_WEBHOOKS = (
    ("slack-webhook", "hooks.slack", rf"hooks\.slack\.com{_SLASH}(?:services|workflows|triggers){_PATH}{{16,}}+"),
    ("discord-webhook", "discord", rf"(?:\w{{2,8}}\.)?discord(?:app)?\.com{_SLASH}api{_SLASH}webhooks{_PATH}{{40,}}+"),
    ("teams-webhook", "webhook.office", rf"[\w\-]{{1,60}}\.webhook\.office\.com{_SLASH}webhookb2{_PATH}{{40,}}+"),
    ("zapier-webhook", "hooks.zapier", rf"hooks\.zapier\.com{_SLASH}hooks{_SLASH}catch{_PATH}{{8,}}+"),
)

# Each is a rule, its keyword, how long the token is before that, and the keyword with the rest.
_HEADED = (
    ("telegram-token", ":a", 8, r":A(?<=\d{8}:A)[\w\-]{33,36}(?![\w\-])"),
    ("azure-key", "jqqj99", 52, r"JQQJ99(?<=[A-Za-z0-9]{52}JQQJ99)[A-Za-z0-9+/]{20,}+={0,2}"),
    ("azure-client-secret", "q~", 4, r"Q~(?<=[\w\-]{3}\dQ~)[\w~.\-]{31,36}"),
    ("terraform-token", ".atlasv1.", 14, r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w\-]{60,}+"),
    ("mailchimp-key", "-us", 32, r"-us(?<=[0-9a-f]{32}-us)\d{1,2}(?!\w)"),
    ("rapidapi-key", "msh", 10, r"msh(?<=[0-9a-f]{10}msh)[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}"),
    ("firebase-server-key", ":apa91b", 11, r":APA91b(?<=AAAA[\w\-]{7}:APA91b)[\w\-]{100,}+"),
)

_TOKENS: tuple[Rule, ...] = (
    *(_prefixed(*form) for form in PREFIXED),
    _prefixed("anthropic-key", "sk-ant-", r"[\w\-]{24,}+", _HINT),
    _prefixed("openai-key", "sk-", r"[\w\-]{20,}+", _HINT),
    Rule("discord-token", (".",), r"\.(?<=[\w\-]{23}\.)[\w\-]{6,7}\.[\w\-]{27,45}(?![\w\-])", find=_discord),
    *(Rule(name, (keyword,), pattern, find=_with_head(head)) for name, keyword, head, pattern in _HEADED),
)

_URLS: tuple[Rule, ...] = (
    Rule(
        "url-password",
        ("@",),
        rf":{_SLASH}{_SLASH}(?P<user>[^\s/:@?\"'`<>\\]{{0,100}}):(?:(?P<secret>[^\s/?,\"'`<>\\]{{1,500}})@"
        r"|(?P<slashed>(?!\d{1,5}/)[^\s@?\"'`<>\\]{1,500})@(?=[\w.\-]))",
        find=_url_password,
    ),
    Rule("url-user", ("@",), rf":{_SLASH}{_SLASH}(?P<secret>[^\s/:@?\"'`<>\\]{{20,500}})@", find=_HINT),
    Rule(
        "url-parameter",
        ("=",),
        r"[?&](?:key|code|sig|sid|session|session_?id|jsessionid|phpsessid|x-goog-signature)="
        r"(?P<secret>[\w%.~+/\-]{16,}+={0,2})",
        folded=True,
        find=_HINT,
    ),
    Rule("signature", ("signature",), r"signature=(?P<secret>[\w%+/\-]{20,}+={0,2})", folded=True, find=_HINT),
    Rule(
        "jwk-private-key",
        ("kty",),
        r"\"(?:d|p|q|dp|dq|qi|k)\\?\"[ \t]{0,8}:[ \t]{0,8}\\?\"(?P<secret>[\w\-]{20,}+)",
    ),
    Rule("otp-secret", ("otpauth",), r"otpauth://[^\s\"'<>]{0,300}?secret=(?P<secret>[a-z2-7]{10,}+)", folded=True),
)  # fmt: skip

_HEADERS: tuple[Rule, ...] = (
    Rule("ci-debug", ("::add-mask::",), r"::add-mask::(?P<secret>[^\s\"']{4,}+)", find=_if(Proof.PASSWORD)),
    # Settings named for a login, or for the host that a token is for.
    Rule("named-token", (".login=",), r"\.login=[\"']?(?P<secret>[^\s\"']{8,}+)", folded=True, find=_KEY),
    Rule("named-token", ("tf_token_",), r"tf_token_\w{1,80}=[\"']?(?P<secret>[^\s\"']{8,}+)", folded=True, find=_KEY),
    # What the debug log of a workflow says of an expression.
    Rule("ci-debug", ("secrets.",), r"secrets\.\w{1,60}'?[^\n]{0,80}\n[^\n']{0,60}Result: '(?P<secret>[^'\n]{4,}+)'"),
    Rule("bearer-token", ("bearer",), r"bearer[ \t]+[\"'`]?(?P<secret>[\w.~+/\-]{10,}+={0,2})", folded=True, find=_KEY),
    Rule("basic-credentials", ("basic",), r"basic[ \t]+(?P<secret>[a-z0-9+/]{6,}+={0,2})", folded=True, find=_basic),
    Rule(
        "authorization-header",
        ("authorization",),
        rf"authorization(?:\\{{0,4}}[\"'`\]]){{0,2}}{_W}(?:[:=,]|=>){_W}(?:\\{{0,4}}[\"'`])?"
        r"(?:[a-z][a-z0-9\-]{2,20}[ \t]+)?(?P<secret>[^\s\"'`,;\\<>]{6,}+)",
        folded=True,
        find=_KEY,
    ),
    Rule(
        "session-cookie",
        ("curl",),
        r"curl\b[^\n|;]{0,200}?[ ](?:-b|--cookie)[ =][\"']?[\w.\-]{1,40}=(?P<secret>[^\s;,\"'\\]{8,}+)",
        folded=True,
        find=_HINT,
    ),
    Rule("session-cookie", ("cookie",), r"=(?P<secret>[^\s;,\"'\\=]{8,}+={0,2})", find=_in_cookie),
)

FORMS: tuple[Rule, ...] = (
    *_BLOCKS,
    *(Rule(name, (keyword,), _HOSTED + pattern) for name, keyword, pattern in _WEBHOOKS),
    *_TOKENS,
    *_URLS,
    *_HEADERS,
)
