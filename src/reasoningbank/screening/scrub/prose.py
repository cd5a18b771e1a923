"""Secrets that a sentence gives away: what it says of a password, hands over, or logs in with."""

from __future__ import annotations

import re
from collections.abc import Callable

from reasoningbank.screening.scrub.context import is_beside, is_said
from reasoningbank.screening.scrub.rule import Finder, Rule, Span
from reasoningbank.screening.scrub.shapes import Proof


def _prose_value(match: re.Match[str], text: str) -> Span | None:
    """Take the value before `is the password` or `as the token`."""
    before = text[max(0, match.start() - 300) : match.start()]
    value = before.split()[-1].strip("\"'`*(,;:") if before.strip() else ""
    found = before.rfind(value)
    start = match.start() - len(before) + found
    proof = Proof.PASSWORD if "pass" in match[0] else Proof.KEY
    return (start, start + len(value)) if value and is_beside(value, proof, quoted=True) else None


def _taken(holds: Callable[[str], bool], strip: str = "") -> Finder:
    """Return what takes the group `secret`, without signs that end a sentence, where it holds."""

    def find(match: re.Match[str], text: str) -> Span | None:
        start, end = match.span("secret")
        value = text[start:end].rstrip(strip)
        return (start, start + len(value)) if value and holds(value) else None

    return find


def _is_password(value: str) -> bool:
    return is_said(value, Proof.PASSWORD)


def _is_key(value: str) -> bool:
    return is_beside(value, Proof.KEY, quoted=False)


_login_pair = _taken(lambda value: "/" not in value and _is_password(value), ").,;:")
# What a sentence about a password comes to later.
_said_value = _taken(_is_password, ").,;:!?")
# What stands between commas behind the name of a key: `the token, ..., is valid until June`.
_aside = _taken(_is_key)
# What a sentence hands over: `use this token for the api while mine is broken: ...`.
_handed = _taken(_is_key, ").,;:!?")


def _pin(match: re.Match[str], text: str) -> Span | None:
    """A PIN is in capitals, or called a code: others hold boards and packages."""
    return match.span("secret") if text.startswith("PIN", match.start()) or "code" in match[0] else None


# What a sentence about a password says later: which it was before, and which it is now.
_RETOLD = (
    r"[^.\n]{0,40}?[ ]from[ ][\"'`]?(?P<secret>[^\s\"'`]{5,}+)[\"'`]?[ ]to[ ]",
    r"[^.\n]{0,40}?[ ]from[ ][^\s]{5,80}[ ]to[ ][\"'`]?(?P<secret>[^\s\"'`]{5,}+)",
    r"[^.\n]{0,80}?[ ](?:new|old|other|current|next)[ ]one[ ](?:is|was)[ ][\"'`]?(?P<secret>[^\s\"'`]{5,}+)",
    r"[^.\n]{0,40}?[ ]it(?:['’]s|[ ]is|[ ]was)[ ](?:now[ ])?[\"'`]?(?P<secret>[^\s\"'`]{5,}+)",
)


_LOGINS = (
    *("credentials", "creds", "login", "log in", "logged in", "sign in", "zugangsdaten", "anmeldedaten"),
    *(
        "identifiants",
        "credenciales",
        "credenciais",
        "credenziali",
        "inloggegevens",
        "dane logowania",
        "учётные данные",
    ),
)

_TO_LOG_IN = (
    *("melde dich", "meld dich", "logge dich", "log dich", "anmelden", "einloggen", "accedi", "entra"),
    *("connecte-toi", "connectez-vous", "inicia sesi", "conéctate", "acesse", "entre"),
)
_WITH_BOTH = (
    r"[^.\n]{0,16}?[ ](?:mit|con|avec|com)[ ](?:\w{4,12}[ ])?[^\s,]{2,40}(?:,?[ ](?:und|e|et|y)|[ ]?/)[ ]"
    r"(?:[^\W\d]{3,12}:?[ ])?[\"'`]?(?P<secret>[^\s\"'`]{5,}+)"
)
_ACCOUNTS = ("user", "username", "usuario", "usuário", "utente", "utilisateur", "benutzer", "gebruiker", "login")
# Behind the account, what it signs in with: `usuario: root, clave: ...`.
_SECOND = (
    r"[ ]?[:=][ ]?[\"'`]?[^\s,;:\"'`]{2,40}[\"'`]?[ ]?[,;/|\n][ ]?(?:y |e |und |et |and |en )?(?:la |die |le )?"
    r"(?:key|clave|chiave|chave|clé|mdp|pw|pass|sleutel|klucz)[ ]?[:=][ ]?[\"'`]?(?P<secret>[^\s\"'`]{5,}+)"
)

_WHAT = r"(?:password|passphrase|passcode|token|secret|api[ -]key|access[ -]key|credentials?)"

PROSE: tuple[Rule, ...] = (
    Rule(
        "prose",
        ("password", "passphrase", "passcode", "token", "secret", "api", "access", "credential"),
        r"[ ](?:is|was|as|in|into|for|at)[ ](?:(?:the|my|our|your|its|an?)[ ])?(?:[a-z]{1,12}[ ]){0,2}"
        + _WHAT
        + r"(?![\w\-])",
        folded=True,
        find=_prose_value,
    ),
    *(
        Rule("prose", (noun,), noun + r"(?![\w\-])" + between, folded=True, find=_said_value)
        for noun in ("password", "passphrase", "passcode", "pwd")
        for between in _RETOLD
    ),
    Rule(
        "prose",
        ("la password",),
        r"la password[ ](?:\w{2,12}[ ]){0,2}(?:in|a|su)[ ][\"'`]?(?P<secret>[^\s\"'`]{5,}+)",
        folded=True,
        find=_said_value,
    ),
    *(
        Rule("prose", (noun,), noun + r"[^,.\n:=]{0,40}+,[ ](?P<secret>[^\s,]{12,}+),", folded=True, find=_aside)
        for noun in ("token", "api key", "access key", "secret")
    ),
    Rule(
        "prose",
        ("use this", "use the following", "here is the", "here's the", "this is the"),
        r"(?:this|the(?:[ ]following)?)[ ](?:[a-z]{2,12}[ ]){0,2}" + _WHAT + r"[ ][^:\n.]{1,80}+:[ ][\"'`]?"
        r"(?P<secret>[^\s\"'`]{8,}+)",
        folded=True,
        find=_handed,
    ),
    Rule(
        "prose",
        ("paste th", "enter th", "put th", "type th"),
        r"(?:paste|enter|put|type)[ ](?:this|the(?:se)?)[^:\n.]{1,40}?(?:key|token|secret|password|passphrase)"
        r"[^:\n.]{0,30}:[ ][\"'`]?(?P<secret>[^\s\"'`]{8,}+)",
        folded=True,
        find=_handed,
    ),
    *(Rule("login", (verb,), verb + _WITH_BOTH, folded=True, find=_login_pair) for verb in _TO_LOG_IN),
    Rule(
        "one-time-code",
        ("-time code", "time code", "verification code", "security code", "login code", "2fa code", "mfa code", "otp"),
        r"(?:code|otp)(?![\w\-])(?:[ ](?:for|to|from)(?:[ ][\w.@\-]{1,24}){1,3})?(?:[ ]is|[ ]was|[ ]?:)[ ]"
        r"[\"'`]?(?P<secret>\d{4,8})(?![\w.])",
        folded=True,
    ),
    Rule(
        "pin",
        ("pin",),
        r"pin(?<!\wpin)(?:[ -]?code|-nummer)?(?:[ \t]+[a-zäöüéèñ']{1,14}){0,6}?"
        r"(?:[ \t]+(?:is|was|lautet|ist|est|es|è|é|to|är|er|jest|luidt)|[ \t]?[:=])[ \t]+(?P<secret>\d{4,8})(?![\w.])",
        folded=True,
        find=_pin,
    ),
    Rule(
        "security-answer",
        ("security answer", "secret answer"),
        r"answer[^.\n:\"']{0,30}(?:[ ](?:is|was)|:)[ ][\"'](?P<secret>[^\"'\n]{3,60}+)[\"']",
        folded=True,
    ),
    Rule(
        "login",
        ("log in", "login", "sign in", "logged in"),
        r"(?:log(?:ged)?[ ]?|sign[ ])in[ ](?:with|as)[ ][^\s,]{2,40}(?:,?[ ](?:and|with)|[ ]?/)[ ][\"'`]?"
        r"(?P<secret>[^\s\"'`]{5,}+)",
        folded=True,
        find=_login_pair,
    ),
    *(
        Rule(
            "login",
            (noun,),
            rf"{noun}\b[^\n:(/]{{0,24}}?[:(]?[ \t]?[\"'`]?[\w.@+\-]{{2,40}}[\"'`]?(?::|[ \t]?/[ \t]?)"
            r"[\"'`]?(?P<secret>[^\s\"'`]{5,}+)",
            folded=True,
            find=_login_pair,
        )
        for noun in _LOGINS
    ),
    *(Rule("login", (noun,), noun + _SECOND, folded=True, find=_login_pair) for noun in _ACCOUNTS),
    *(
        Rule(
            "recovery-phrase",
            (noun,),
            rf"{noun}(?:[ ]\w{{1,12}}){{0,3}}?(?:[ ]is|[\"']?[ \t]*[:=])[ \t]*[\"'`]?"
            r"(?P<secret>[a-z]{3,8}+(?:[ ,]{1,2}+[a-z]{3,8}+){11,23}+)(?![\w])",
            folded=True,
        )
        for noun in ("mnemonic", "seed phrase", "recovery phrase", "seed words")
    ),
)


# -- in other languages than English: `das Passwort lautet ...` ------------------------------------------------------
#
# A noun, a few words, a word that says "is", and a value: as in English, the value has to look like no word.

# By what they name. Those that are also words of English code (`token`, `password`) are met here beside foreign verbs.
_PASSWORDS = (
    *(
        "passwort",
        "kennwort",
        "mot de passe",
        "mdp",
        "contraseña",
        "senha",
        "palavra-passe",
        "parola d'ordine",
        "wachtwoord",
    ),
    *("hasł", "heslo", "lösenord", "passord", "adgangskode", "kodeord", "salasana", "şifre", "parola", "mật khẩu"),
    *(
        "code secret",
        "code d'accès",
        "code d’accès",
        "zugangscode",
        "clave secreta",
        "clave de acceso",
        "codice segreto",
    ),
    *("kata sandi", "jelszó", "парол", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "비번", "पासवर्ड"),
    *("كلمة المرور", "كلمة السر", "סיסמה", "κωδικός", "รหัสผ่าน"),
)
_KEYS = (
    *(
        "schlüssel",
        "clé",
        "jeton",
        "clave",
        "chiave",
        "chave",
        "sleutel",
        "klucz",
        "klíč",
        "nyckel",
        "nøkkel",
        "anahtar",
    ),
    *("ключ", "токен", "密钥", "密鑰", "令牌", "キー", "トークン", "토큰", "키"),
)
# Words of English too, met beside foreign verbs only: what English says of them is a table of its own.
_BORROWED = {"password": Proof.PASSWORD, "passphrase": Proof.PASSWORD}
_BORROWED |= dict.fromkeys(("key", "token", "secret"), Proof.HINT)
_IS = (
    "lautet|ist|heißt|heisst|war|est|était|vaut|es|era|è|é|luidt|brzmi|jest|je|zní|är|er|là|adalah|"
    "был|была|это|есть|является|هي|הוא|είναι|คือ"
)
_GAP = r"(?:[ \t]+[^\s:=]{1,24}){0,7}?"
_NOW = (
    r"(?:[ \t]+(?:jetzt|nun|nur|früher|bisher|maintenant|désormais|encore|ahora|antes|ora|adesso|agora|nu|nog|teraz|"
    r"nyní|şimdi|сейчас|теперь|раньше))?"
)
_BEFORE = r"[ \t]*[\"'`«„“「『]?[ \t]*"
_FOREIGN_LINKS = (
    rf"{_GAP}[ \t]+(?:is|to|on|{_IS})(?:[ \t]*:)?{_NOW}[ \t]+",
    rf"{_GAP}[ \t]*[:：=—–][ \t]*",  # noqa: RUF001
    r"[ \t]*(?:是|为|為|は|が|는|은|이|가)[ \t]*[:：]?",  # noqa: RUF001 - East Asian verbs stand without a space
    r"[ \t]+(?=[!-~]+[ \t]+(?:है|olarak|dir)(?!\w))",
    # Set to, changed to: `das Passwort auf ... gesetzt`.
    r"(?:[ \t]+[^\s:=]{1,12}){0,4}?[ \t]+(?:auf|op|på|till|til|en|à|para|naar)[ \t]+",
)
# Right beside the noun: `mit dem Passwort ... kommt man hinein`, `パスワード「...」`.
_BESIDE = r"(?P<beside>[ \t]*(?=[「『«„“])|[ \t]+)"
_FOREIGN = rf"(?:{_GAP}[ \t]+(?:{_IS})(?:[ \t]*:)?{_NOW}[ \t]+|{_FOREIGN_LINKS[2]}){_BEFORE}"
_LINK = rf"\w{{0,4}}(?:{'|'.join(_FOREIGN_LINKS)}|{_BESIDE}){_BEFORE}"
_FOREIGN_VALUE = r"(?P<secret>[!-&(-_a-~]{5,}+)"


def _rule(noun: str, proof: Proof, link: str) -> Rule:
    def find(match: re.Match[str], text: str) -> Span | None:
        start, end = match.span("secret")
        value = text[start:end].rstrip(").,;:!?\"'`]}*")
        # A number beside a noun is a length, or a year.
        number = value.isdigit() and match.groupdict().get("beside") is not None
        return (start, start + len(value)) if value and not number and is_said(value, proof) else None

    name = "password" if proof is Proof.PASSWORD else "key"
    return Rule(name, (noun,), re.escape(noun) + link + _FOREIGN_VALUE, folded=True, find=find)


_NOUNS = dict.fromkeys(_PASSWORDS, Proof.PASSWORD) | dict.fromkeys(_KEYS, Proof.HINT)

TOLD: tuple[Rule, ...] = (
    *(_rule(noun, proof, _LINK) for noun, proof in _NOUNS.items()),
    *(_rule(noun, proof, _FOREIGN) for noun, proof in _BORROWED.items()),
)
