"""What names of secrets, and secrets themselves, look like: small pure tests that the scrubber's rules share.

A name decides most cases: `DB_PASSWORD` names a secret, `PASSWORD_FILE`, `max_tokens` and `primary_key` do not. The
value decides the rest: `${TOKEN}`, `<your-key>`, `get_token()` and `string` stand where a secret would, but are none.
No test looks at more than the first 200 characters, so that a megabyte without spaces costs no more than a word.
"""

from __future__ import annotations

import re
from enum import IntEnum

_LOOK = 200


class Proof(IntEnum):
    """How much its surroundings say that a value is a secret: the less they say, the more the value has to."""

    PASSWORD = 3  # the name of a password: any word may be one
    KEY = 2  # the name of a key, token or secret: looks made by a machine
    HINT = 1  # a name that may mean one (`foo_key`), or a sentence that mentions one: long and clearly random


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = _words("""
    password passwd passwort pwd pw pass passphrase passcode passwrd psw kennwort contraseña senha пароль 密码 密碼
    パスワード 비밀번호
""")
_NOUNS = _words("secret token credential auth authorization signature")
_PLURALS = _words("passwords secrets tokens credentials creds keys")
_KEY_OF = _words("""
    api access secret private account encryption encrypt signing sign auth authentication master shared storage
    subscription app application consumer service session deploy webhook hmac jwt license licence admin
    functions host ssh gpg pgp aes bot project integration openai anthropic aws azure google gcp stripe github
    gitlab crypt cipher symmetric decryption backup root ca tls ssl wallet recovery unlock client server
    security seed
""")
# Words that make another thing of the token or key after them: `next_page_token`, `cache_key`.
_NOT_OF = _words("""
    max min num n next prev previous page continuation cursor sync count total prompt completion input output
    stop eos bos pad unk mask sep cls special bad per cached reasoning thinking primary foreign cache partition
    sort hash row map group index unique public lookup dict shortcut object bucket routing dedupe idempotency
    i18n publishable has is use uses no without s3 translation message registry natural candidate composite
    surrogate query search filter file column field order range document item entity tag trace etag
""")
# Words after the noun that still leave it the name of the secret: `API_KEY_PROD`, `password2`.
_TRAILING = _words("""
    prod production dev development stage staging test testing live sandbox old new current default primary
    secondary value val base raw plain plaintext text str string b64 base64 admin root user app db main backup
    ro rw v eu us header data
""")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_FUSED = re.compile(
    r"(?:(?P<password>(?:db|my|user|root|login|smtp|mail|key|store|sa|ssh|admin|bind|become|master|proxy|require|sudo|vault|vnc"
    r"|(?:src|dest)?(?:store|key))?pass(?:word|wd|phrase)?|masterauth"
    r"|\w*(?:password|passwd))"
    r"|(?:(?:x|api|access|auth|secret|private|account|master|service|app|subscription|shared|id|refresh|bearer"
    r"|session|client|user|csrf|xsrf|jwt|oauth)+(?:key|token|secret)))\Z"
)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `awsSecret_ACCESS-key2` gives aws, secret, access, key, 2."""
    return [word.lower() for word in _WORD.findall(name[-_LOOK:])]


def proof_of_name(name: str) -> Proof | None:
    """Tell what `name` (`DB_PASSWORD`, `x-api-key`, `clientSecret`) says about its value; None: it is no secret."""
    words = words_of(name)
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TRAILING):
        words.pop()
    noun, before = (words[-1], words[-2] if len(words) > 1 else "") if words else ("", "")
    fused = _FUSED.match(noun)
    if before in ("no", "without", "ask", "prompt"):
        return None
    if noun in _PASSWORDS or (fused and fused["password"]):
        return Proof.PASSWORD
    if before in _NOT_OF:
        return None
    if noun in _NOUNS or fused or (noun == "key" and before in _KEY_OF):
        return Proof.KEY
    return Proof.HINT if noun in _PLURALS or (noun == "key" and before) else None


_STAND_INS = _words("""
    password passwd pass pwd passphrase secret token key apikey credential credentials auth string str text none
    null nil undefined true false yes no on off required optional hidden masked redacted empty invalid incorrect
    wrong missing unset default bytes bool boolean int integer number object any void secretstr enabled disabled
    bearer basic bar foo username user unknown expired revoked changed reset random generated encrypted hashed
    plaintext blank prompt ask never always auto inherit stdin env environment value example changeme
""")
_STAND_IN_WORDS = _words(
    "your yours placeholder changeme example sample dummy redacted insert replace todo fixme here fake mock"
)
_FILLED_IN_LATER = re.compile(
    r"\$\{?[\w.:-]*+\}?\W?\Z|\$[({]|%\w+%\Z|%[({]?\w*\)?s?\Z|<|\{|#\{|@[\w.]+@|\[|&\w+;|!(?:Ref|Sub|vault)|ENC[([]|"
    r"(?:op|vault|env|file|ref\+\w+|keyring|secretsmanager|ssm|gcpsm|akv|doppler|https?)://|arn:aws|env:|file:|"
    r"(?:process\.env|os\.environ|secrets|settings|config|conf|cfg|vars?|local|data|self|this|ctx|request|req|args"
    r"|options|opts|params|state|props|env|vault|steps|inputs|github|values)[.\[]|sha(?:1|256|384|512)[:-]|md5:"
)
_CODE = re.compile(r"\.?[A-Za-z_]\w*(?:(?:\.|::|->)\w+)*(?:[(\[]|\.\w+[(\[])")
_IDENTIFIER = re.compile(r"\.?[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]+)*\Z")
_MASK = frozenset("xX*.•-_#?0…")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_PLAIN_NUMBER = re.compile(r"[-+]?[\d.,:_/%-]+[a-zA-Z]{0,3}\Z")
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|\w[\w-]*\.(?:ya?ml|json|toml|ini|txt|pem|key|crt|py|js|ts|go|rs|env|sh|md)\Z"
)
_TECHNICAL = re.compile(
    r"(?:sha|md|utf|base|aes|rsa|hs|rs|es|ps|http|oauth|ipv|v|ver|version|gpt|claude|llama|python|py|java|node|rc|beta"
    r"|alpha|ed|ec|k|x|s|h|web|tls|ssl|pbkdf|argon|step|line|part|phase|day|week|row|col|port|code|error|e|log|cpu|gpu)"
    r"\d{0,5}\Z"
)


def is_stand_in(value: str) -> bool:
    """Tell whether `value` only marks the place of a secret: `${TOKEN}`, `<your-key>`, `xxxx`, `None`, `[REDACTED]`."""
    value = value[:_LOOK].strip().strip("\"'`*")
    bare = value.lower()
    if not (set(bare) - _MASK) or bare in _STAND_INS or "redacted" in bare or len(set(bare)) == 1:
        return True
    if _FILLED_IN_LATER.match(value):
        return True
    words = words_of(value)
    return not _STAND_IN_WORDS.isdisjoint(words) and roughness(value) < 0.3


def is_code(value: str) -> bool:
    """Tell whether an unquoted `value` is an expression: `get_token()`, `os.environ[`, `settings.key`, `password`."""
    value = value[:_LOOK]
    return bool(_CODE.match(value)) or (bool(_IDENTIFIER.match(value)) and not is_jumble(value))


def roughness(value: str) -> float:
    """Return the runs of letters or of digits per letter and digit: words have < 0.25, random text > 0.35."""
    value = value[:_LOOK]
    pieces = _PIECE.findall(value)
    return len(pieces) / max(1, sum(map(len, pieces)))


def has_digit(value: str) -> bool:
    """Tell whether `value` holds a digit."""
    return any(c.isdigit() for c in value[:_LOOK])


def has_digit_and_letter(value: str) -> bool:
    """Tell whether `value` mixes digits and letters."""
    return has_digit(value) and any(c.isalpha() for c in value[:_LOOK])


def has_sign(value: str) -> bool:
    """Tell whether `value` holds a sign that words, names and paths do not have: one of !@#$%^&*+~ and the like."""
    return any(not c.isalnum() and c not in "-_.,:;/\\'’()[]{}<>\"`" for c in value[:_LOOK])


def is_jumble(value: str) -> bool:
    """Tell whether letters alone look random: twelve or more, in mixed case, in pieces too short to be words."""
    value = value[:_LOOK]
    mixed = len(value) >= 12 and value.lower() != value != value.upper()
    return mixed and roughness(value) > (0.27 if len(value) >= 20 else 0.34)


def is_path(value: str) -> bool:
    """Tell whether `value` is the path or name of a file, in words."""
    value = value[:_LOOK]
    # Base64 has slashes too, but mixes cases.
    words = roughness(value) < (0.35 if value == value.lower() else 0.22)
    return words and bool("/" in value or _PATH.match(value)) and not has_sign(value)


def is_plain(value: str) -> bool:
    """Tell whether `value` is a number, date, size, version, file name or technical term such as sha256 or gpt-4o."""
    if _PLAIN_NUMBER.match(value) or is_path(value):
        return True
    parts = re.split(r"[-_./:+,]", value.lower())
    return not is_jumble(value) and all(
        part.isalpha() or (part.isdigit() and len(part) < 9) or _TECHNICAL.match(part) for part in parts if part
    )


_MEASURED = _words("""
    char chars character characters letter letters digit digits day days hour hours minute minutes second seconds bit
    bits byte bytes step part phase week day line least most min max minimum maximum or to of in the and encoded hashed
    fold factor
""")


def is_phrase(value: str) -> bool:
    """Tell whether words and a number are joined as passphrases are: `kite-42-Lamp`; not `sha-256-hashed`."""
    first, *rest = re.split(r"[-_.]", value[:_LOOK])
    words = [part for part in (first, *rest) if part.isalpha()]
    return (
        first.isalpha()
        and len(words) >= 2
        and any(part.isdigit() for part in rest)
        and all(part.isalnum() for part in rest)
        and not any(word.lower() in _MEASURED or _TECHNICAL.match(word.lower()) or word.isupper() for word in words)
    )


def is_secret(value: str, proof: Proof) -> bool:
    """Tell whether `value` is a secret, given what its surroundings say about it."""
    value = value[:_LOOK]
    if is_stand_in(value):
        return False
    if proof is Proof.PASSWORD:
        return len(value) >= 4 and not is_path(value) and not value.startswith(("/", "~/", "./"))
    if proof is Proof.KEY:
        return len(value) >= 8 and (has_digit_and_letter(value) or is_jumble(value)) and not is_plain(value)
    return (
        len(value) >= 12
        and ((has_digit_and_letter(value) and roughness(value) > 0.3) or is_jumble(value))
        and value[0] != "."
        and not is_plain(value)
        and not UUID.match(value)
    )
