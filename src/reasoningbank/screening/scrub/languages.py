"""Sentences that give a secret away, in other languages than English: `das Passwort lautet ...`, `パスワードは...です`.

A noun, a few words, a word that says "is", and a value: as in English, the value has to look like no word.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from reasoningbank.screening.scrub.rule import Rule, Span
from reasoningbank.screening.scrub.shapes import Proof

# By what they name. Those that are also words of English code (`token`, `password`) are met here beside foreign verbs.
_PASSWORDS = (
    *("passwort", "kennwort", "mot de passe", "contraseña", "senha", "palavra-passe", "parola d'ordine", "wachtwoord"),
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
_LINKS = (
    rf"{_GAP}[ \t]+(?:is|to|on|{_IS})(?:[ \t]*:)?{_NOW}[ \t]+",
    rf"{_GAP}[ \t]*[:：=—–][ \t]*",  # noqa: RUF001
    r"[ \t]*(?:是|为|為|は|が|는|은|이|가)[ \t]*[:：]?",  # noqa: RUF001 - East Asian verbs stand without a space
    r"[ \t]+(?=[!-~]+[ \t]+(?:है|olarak|dir)(?!\w))",
)
# Right beside the noun: `mit dem Passwort ... kommt man hinein`, `パスワード「...」`.
_BESIDE = r"(?P<beside>[ \t]*(?=[「『«„“])|[ \t]+)"
_FOREIGN = rf"(?:{_GAP}[ \t]+(?:{_IS})(?:[ \t]*:)?{_NOW}[ \t]+|{_LINKS[2]}){_BEFORE}"
_LINK = rf"\w{{0,4}}(?:{'|'.join(_LINKS)}|{_BESIDE}){_BEFORE}"
_VALUE = r"(?P<secret>[!-&(-_a-~]{5,}+)"


def told(is_said: Callable[[str, Proof], bool]) -> tuple[Rule, ...]:
    """Return the rules; `is_said` tells whether the value that a sentence gives is a secret."""

    def rule(noun: str, proof: Proof, link: str) -> Rule:
        def find(match: re.Match[str], text: str) -> Span | None:
            start, end = match.span("secret")
            value = text[start:end].rstrip(").,;:!?\"'`]}*")
            # A number beside a noun is a length, or a year.
            number = value.isdigit() and match.groupdict().get("beside") is not None
            return (start, start + len(value)) if value and not number and is_said(value, proof) else None

        name = "password" if proof is Proof.PASSWORD else "key"
        return Rule(name, (noun,), re.escape(noun) + link + _VALUE, folded=True, find=find)

    nouns = dict.fromkeys(_PASSWORDS, Proof.PASSWORD) | dict.fromkeys(_KEYS, Proof.HINT)
    own = (rule(noun, proof, _LINK) for noun, proof in nouns.items())
    return (*own, *(rule(noun, proof, _FOREIGN) for noun, proof in _BORROWED.items()))
