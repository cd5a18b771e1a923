"""Secrets that logs, files and messages hold, told by where they stand; and what only looks like one there."""

from __future__ import annotations

import pytest

from reasoningbank.screening.scrub import scrub

TOKEN = "8dKp2Qx7LmZr4TvWc9YbN1sHf6JgE3uA5oRi0XqB"
WORD = "nickel42havenTw"

HELD = (
    f"##[debug]Evaluating: secrets.DEPLOY_KEY\n##[debug]Result: '{TOKEN}'",
    f"::add-mask::{TOKEN}",
    f"sonar-scanner -Dsonar.login={TOKEN} -Dsonar.host.url=https://sonar.acme.io",
    f"export TF_TOKEN_app_terraform_io={TOKEN}",
    f"cosign: COSIGN_PASSWORD set to {WORD} from variable group",
    f"I reset your account, new password's {WORD}",
    f"use this token for the api while mine is broken: {TOKEN}",
    f"paste this into the key field: {TOKEN}",
    f"Ich habe das Root-Passwort auf {WORD} gesetzt",
    f"le mot de passe root a été changé en {WORD}",
    f"ho cambiato la password del sito in {WORD}",
    f"mdp du wifi : {WORD}",
    f"Voici mes identifiants : jean / {WORD}",
    f"credenziali di accesso: admin/{WORD}",
    f"Usuario: root, clave: {WORD}",
    f"melde dich mit admin und {WORD} an",
    f"accedi con utente ops e password {WORD}",
    f"*:*:*:postgres:{WORD}",
    f"10.1.2.3:5433:*:replicator:{WORD}",
    f"fernet = Fernet(b'{TOKEN}')",
    f"cx_Oracle.connect('scott', '{WORD}', 'db/orcl')",
    f"session.auth = ('svc', '{WORD}')",
    f"curl -b 'session={TOKEN}' https://acme.io/account",
    f"security unlock-keychain -p {WORD} build.keychain",
    f'  password               = "{WORD}"\n  skip_final_snapshot    = true',
    "helm install db bitnami/mysql --set auth.rootPassword=QcjTyNwLjTjaKa",
    f'value = nonsensitive("{WORD}")',
)


@pytest.mark.parametrize("text", HELD)
def test_what_stands_where_a_secret_stands_is_dropped(text: str) -> None:
    told = scrub(text).text

    assert not any(secret in told for secret in (TOKEN, WORD, "QcjTyNwLjTjaKa"))
    assert "[REDACTED]" in told


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("your one-time code is 423832, it expires in ten minutes", "423832"),
        ("verification code: 904417", "904417"),
        ("the login code for ann@acme.io is 5518", "5518"),
    ],
)
def test_a_code_for_one_login_is_dropped(text: str, code: str) -> None:
    assert code not in scrub(text).text


CLEAN = (
    "##[debug]Evaluating: secrets.DEPLOY_KEY\n##[debug]Result: ''",
    "export TF_TOKEN_app_terraform_io=$TOKEN",
    "sonar.projectKey=acme_shop",
    "the password's minimum length is 12",
    "use this token for the api while mine is broken: tomorrow",
    "paste this into the key field: the name of the cache",
    "Das Passwort wird auf der Seite gesetzt",
    "le mot de passe doit être changé en ligne",
    "la password in uso scade domani",
    "Zugangsdaten: siehe Tresor",
    "Usuario: root, clave: la de siempre",
    "melde dich mit admin und neuem Passwort an",
    "localhost:5432:*:app:*",
    "arn:aws:logs:*:123456789012:log-group:web",
    "session.auth = (user, password)",
    "curl -b cookies.txt https://acme.io/account",
    "password               = var.db_password",
    "helm install db bitnami/mysql --set image.tag=1.4.2",
    "one-time code for 2 devices",
    "your one-time code expires in ten minutes",
    "security find-certificate -p login.keychain",
)


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_stands_beside_such_words_stays(text: str) -> None:
    assert scrub(text).text == text
