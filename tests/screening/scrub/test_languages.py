"""Secrets in sentences of many languages, and on command lines of all sorts; and what only looks like them."""

from __future__ import annotations

import pytest

from reasoningbank.screening.scrub import REDACTED, scrub

PASSWORDS = ("velvet9river", "X7velvet!", "kite-42-Lamp", "zQ8!mbx2")
SENTENCES = """
Das Passwort lautet {}
Das Passwort für den Testserver war früher {}.
Le mot de passe est {}
Le mot de passe du serveur était « {} ».
La contraseña del servidor era: {}
La password è {}
A senha do banco é {} agora
Het wachtwoord voor de database luidt {}
Het wachtwoord is {}
Hasło do serwera brzmi {}
Heslo je {}
Lösenordet är {}
Passordet er {}
Geçici şifre {} olarak ayarlandı
Пароль от сервера — {}
密码是{}
パスワードは{}です
비밀번호는 {}입니다
पासवर्ड {} है
كلمة المرور هي {}
Mật khẩu là {}
pw is {}
htpasswd -b -c /etc/f admin '{}'
redis-server --requirepass {}
keytool -importkeystore -srcstorepass {} -v
sshpass -p{} ssh root@h
mysqldump -u root -p{} shop
net use z: \\\\srv\\x /user:bob {}
spring.datasource.password={}
""".strip().splitlines()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_password_that_is_said_is_dropped_whatever_the_language(sentence: str) -> None:
    for password in PASSWORDS:
        said = sentence.format(password)

        assert password not in scrub(said).text
        assert scrub(said).text.startswith(said[:3])


KEYS = ("Der API-Schlüssel lautet {}", "La clé API est {}", "API 密钥是 {}", "APIキーは{}です", "Ключ API: {}")


@pytest.mark.parametrize("sentence", KEYS)
def test_a_key_that_is_said_is_dropped_whatever_the_language(sentence: str) -> None:
    assert scrub(sentence.format("a8F3kQ9zLm2Xc7Vb1Nw5")).text == sentence.format(REDACTED)


CLEAN = """
Das Passwort ist abgelaufen und muss geändert werden.
Das Passwort ist base64-kodiert und 44 Zeichen lang.
Der Primärschlüssel ist order_id2, der Cache-Schlüssel ist user:42:profile_v3.
La contraseña es incorrecta, vuelva a intentarlo en 30 minutos.
La password è nel file .env.local
A chave é composta (tenant_id, created_at).
Hasło to najczęstsza przyczyna awarii.
Пароль: не менее 12 символов.
密码是必填项,至少8位。
パスワードは8文字以上です。
키: user_id2
the password is SHA-256-hashed, and at-least-8-characters long
mysql -P3306 -h db shop
htpasswd -c /etc/nginx/.htpasswd admin
redis-server --requirepass $REDIS_PASS
bypass the cache; compass points north
{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"}
""".strip().splitlines()


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert scrub(text).text == text


def test_a_key_between_commas_is_dropped_and_a_word_there_stays() -> None:
    assert (
        scrub("the token, Zq8vT2mK9xWb4Lr7, is valid until June").text == f"the token, {REDACTED}, is valid until June"
    )
    assert scrub("the token, authentication, is a header").text == "the token, authentication, is a header"


FORMATS = (
    "ghs_123456_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.Qx8f7k2Lm3n4Pq5r6S7t8U9v0W1x2Y3z4",
    "AQ.Ab8RN6L" + "x9Kq2Zw7" * 5,
    "sk_org_live_" + "a9B8c7D6" * 4,
    "vck_" + "a9B8c7D6" * 4,
    "cfut_" + "a9B8c7D6" * 5,
    "tgp_v1_" + "a9B8c7D6" * 5,
    "napi_" + "a9b8c7d6" * 8,
    "crsr_" + "a9b8c7d6" * 8,
    "Kx93" * 13 + "JQQJ99" + "BAC8Yeqw2" * 3,
    "ghp_" + "a" * 36,
)


@pytest.mark.parametrize("token", FORMATS)
def test_tokens_of_newer_forms_are_dropped(token: str) -> None:
    assert scrub(f"the call with {token} was refused").text == f"the call with {REDACTED} was refused"


def test_the_private_part_of_a_json_web_key_is_dropped_and_its_public_part_stays() -> None:
    private, public = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE", "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"

    assert scrub(f'{{"kty":"EC","d":"{private}","x":"{public}"}}').text == (
        f'{{"kty":"EC","d":"{REDACTED}","x":"{public}"}}'
    )
