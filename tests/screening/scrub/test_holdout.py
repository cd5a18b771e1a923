# long: three tables, each read as a whole
"""What the scrubber must drop, and what it must keep, in formats and sentences of its own.

The formats and sentences here are a hold-out: they were written from the providers' documentation and from how logs,
configurations and chats look, not from the benchmark's generator. No value is a credential: all are drawn at random.
"""

from __future__ import annotations

import base64
import json
import random
import string

import pytest

from reasoningbank.screening.scrub import REDACTED, scrub

LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
ALNUM, LOWER = LETTERS + DIGITS, string.ascii_lowercase + DIGITS
URLSAFE, BASE64, UPPER = ALNUM + "-_", ALNUM + "+/", string.ascii_uppercase + DIGITS

_random = random.Random(7)


def draw(length: int, alphabet: str = ALNUM) -> str:
    return "".join(_random.choices(alphabet, k=length))


def uuid() -> str:
    return "-".join(draw(n, HEX) for n in (8, 4, 4, 4, 12))


def pem(kind: str, lines: int = 6, newline: str = "\n", end: bool = True) -> str:
    body = newline.join(draw(64, BASE64) for _ in range(lines)) + newline + draw(38, BASE64) + "=="
    return f"-----BEGIN {kind}-----{newline}{body}" + (f"{newline}-----END {kind}-----" if end else "")


def jwt() -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'RS256', 'kid': draw(8)})}.{part({'sub': draw(9), 'exp': 1893456000})}.{draw(86, URLSAFE)}"


FORMATS = {
    "aws access key": "AKIA" + draw(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "aws temporary key": "ASIA" + draw(16, UPPER),
    "aws session token": "IQoJb3JpZ2luX2Vj" + draw(300, BASE64) + "==",
    "aws bedrock key": "ABSK" + draw(120, BASE64) + "=",
    "github classic": "ghp_" + draw(36),
    "github user to server": "ghu_" + draw(36),
    "github refresh": "ghr_" + draw(76),
    "github fine-grained": "github_pat_" + draw(22) + "_" + draw(59),
    "gitlab runner": "glrt-" + draw(20, URLSAFE),
    "gitlab deploy": "gldt-" + draw(20, URLSAFE),
    "gitlab routable": "glpat-" + draw(27, URLSAFE) + ".01.0w" + draw(7, LOWER),
    "bitbucket app password": "ATBB" + draw(32),
    "atlassian": "ATATT3xFfGF0" + draw(170, URLSAFE) + "=" + draw(8, "0123456789ABCDEF"),
    "openai service account": "sk-svcacct-" + draw(58, URLSAFE) + "T3BlbkFJ" + draw(58, URLSAFE),
    "openai admin": "sk-admin-" + draw(58, URLSAFE) + "T3BlbkFJ" + draw(58, URLSAFE),
    "openai compatible": "sk-" + draw(32, HEX),
    "anthropic admin": "sk-ant-admin01-" + draw(93, URLSAFE) + "AA",
    "anthropic oauth": "sk-ant-oat01-" + draw(93, URLSAFE) + "AA",
    "openrouter": "sk-or-v1-" + draw(64, HEX),
    "langfuse": "sk-lf-" + uuid(),
    "langsmith": "lsv2_pt_" + draw(32, HEX) + "_" + draw(10, HEX),
    "huggingface": "hf_" + draw(34, LETTERS),
    "huggingface org": "api_org_" + draw(34, LETTERS),
    "replicate": "r8_" + draw(37),
    "nvidia": "nvapi-" + draw(64, URLSAFE),
    "tavily": "tvly-dev-" + draw(32),
    "firecrawl": "fc-" + draw(32, HEX),
    "pinecone": "pcsk_" + draw(6) + "_" + draw(63),
    "elevenlabs": "sk_" + draw(48, HEX),
    "e2b": "e2b_" + draw(40, HEX),
    "cerebras": "csk-" + draw(48, LOWER),
    "google api": "AIza" + draw(35, URLSAFE),
    "google access token": "ya29." + draw(120, URLSAFE),
    "google refresh token": "1//0g" + draw(60, URLSAFE),
    "slack app": f"xapp-1-A{draw(10, UPPER)}-{draw(13, DIGITS)}-{draw(64, HEX)}",
    "slack config": "xoxe.xoxp-1-" + draw(140),
    "slack browser": f"xoxc-{draw(12, DIGITS)}-{draw(12, DIGITS)}-{draw(13, DIGITS)}-{draw(64, HEX)}",
    "slack workflow": "/".join(
        ("https://hooks.slack.com/workflows", "T" + draw(10, UPPER), "A" + draw(10, UPPER), draw(18, DIGITS), draw(24))
    ),
    "discord webhook": f"https://discord.com/api/webhooks/{draw(19, DIGITS)}/{draw(68, URLSAFE)}",
    "teams webhook": "/".join(
        ("https://acme.webhook.office.com/webhookb2", f"{uuid()}@{uuid()}", "IncomingWebhook", draw(32, HEX), uuid())
    ),
    "discord bot": f"MT{draw(24)}.G{draw(5)}.{draw(38, URLSAFE)}",
    "telegram": f"{draw(10, DIGITS)}:AA{draw(33, URLSAFE)}",
    "stripe test": "sk_test_" + draw(99),
    "stripe webhook": "whsec_" + draw(32),
    "twilio": "SK" + draw(32, HEX),
    "sendgrid": f"SG.{draw(22, URLSAFE)}.{draw(43, URLSAFE)}",
    "mailchimp": draw(32, HEX) + "-us19",
    "brevo": f"xkeysib-{draw(64, HEX)}-{draw(16)}",
    "resend": "re_" + draw(8) + "_" + draw(24),
    "hubspot": "pat-eu1-" + uuid(),
    "npm": "npm_" + draw(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + draw(150, URLSAFE),
    "nuget": "oy2" + draw(43, LOWER),
    "crates.io": "cio" + draw(32),
    "docker org": "dckr_oat_" + draw(32, URLSAFE),
    "artifactory": "AKCp" + draw(69),
    "digitalocean oauth": "doo_v1_" + draw(64, HEX),
    "fly": "fo1_" + draw(43, URLSAFE),
    "netlify": "nfp_" + draw(40),
    "render": "rnd_" + draw(32),
    "supabase": "sbp_" + draw(40, HEX),
    "planetscale": "pscale_pw_" + draw(43, URLSAFE),
    "databricks": "dapi" + draw(32, HEX) + "-2",
    "dbt": "dbtc_" + draw(40, URLSAFE),
    "prefect": "pnu_" + draw(36),
    "vault batch": "hvb." + draw(120, URLSAFE),
    "doppler service": "dp.st.prd." + draw(43),
    "terraform": f"{draw(14)}.atlasv1.{draw(67, URLSAFE)}",
    "pulumi": "pul-" + draw(40, HEX),
    "infracost": "ico-" + draw(32),
    "grafana cloud": "glc_" + draw(120, BASE64) + "==",
    "sentry org": "sntrys_" + draw(120, BASE64),
    "new relic": "NRAK-" + draw(27, UPPER),
    "dynatrace": f"dt0c01.{draw(24, UPPER)}.{draw(64, UPPER)}",
    "posthog": "phx_" + draw(43),
    "sonarqube": "squ_" + draw(40, HEX),
    "circleci": f"CCIPAT_{draw(22)}_{draw(40, HEX)}",
    "buildkite": "bkua_" + draw(40, HEX),
    "shopify secret": "shpss_" + draw(32, HEX),
    "square": "EAAA" + draw(60, URLSAFE),
    "facebook": "EAAG" + draw(120),
    "braintree": f"access_token$production${draw(16, LOWER)}${draw(32, HEX)}",
    "plaid": "access-production-" + uuid(),
    "flutterwave": "FLWSECK_TEST-" + draw(32, HEX) + "-X",
    "shippo": "shippo_live_" + draw(40, HEX),
    "easypost": "EZAK" + draw(54),
    "linear oauth": "lin_oauth_" + draw(64, HEX),
    "notion": "secret_" + draw(43),
    "airtable": f"pat{draw(14)}.{draw(64, HEX)}",
    "figma": "figd_" + draw(40, URLSAFE),
    "dropbox": "sl." + draw(140, URLSAFE),
    "contentful": "CFPAT-" + draw(43, URLSAFE),
    "mapbox": f"sk.eyJ1Ijoi{draw(50, URLSAFE)}.{draw(22, URLSAFE)}",
    "tailscale": f"tskey-auth-{draw(12)}-{draw(32)}",
    "1password": "ops_eyJ" + draw(200, URLSAFE),
    "azure client secret": f"{draw(3)}8Q~{draw(34, URLSAFE)}",
    "age": "AGE-SECRET-KEY-1" + draw(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "jwt": jwt(),
    "bcrypt": "$2b$12$" + draw(53, ALNUM + "./"),
    "argon2": f"$argon2id$v=19$m=65536,t=3,p=4${draw(22, BASE64)}${draw(43, BASE64)}",
    "rapidapi": f"{draw(10, HEX)}msh{draw(15, HEX)}p1{draw(6, HEX)}jsn{draw(12, HEX)}",
    "bip32": "xprv9s21" + draw(103, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
}

SENTENCES = (
    "{}",
    "The run only went through after {} was put in place of the old one.",
    "I tried {}, and got 403 (forbidden) three times.",
    "found in .env.local (line 7): {}",
    '{{"argv": ["deploy", "--with", "{}"], "exit": 1}}',
    "2026-01-02 03:04:05,678 DEBUG http.client send: 'X-Thing: {}\\r\\n'",
    "first line\\n{}\\nlast line",
    "<td>{}</td>",
    "note={}&page=2",
    "redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Fx%3D{}",
    "- `{}`\n- second point",
    "\x1b[31m{}\x1b[0m expired",
)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_token_of_a_documented_format_goes_wherever_it_stands(kind: str) -> None:
    secret = FORMATS[kind]
    for sentence in SENTENCES:
        scrubbed = scrub(sentence.format(secret))
        assert not leaks(secret, scrubbed.text), sentence
        assert sum(scrubbed.counts.values()) >= 1


def leaks(secret: str, text: str) -> bool:
    """Tell whether a piece of 12 characters (or all of a shorter secret) is left."""
    return any(secret[i : i + 12] in text for i in range(max(1, len(secret) - 11)))


OPAQUE, LONG, PHRASE = "Zx81qPw07LmNb44T", draw(40), "plum7-Kettle!river"

IN_CONTEXT = (
    # assignments in many syntaxes
    ("export DB_PASS=velvet9river", "velvet9river"),
    ("DB_PASS=letmein", "letmein"),
    ("set API_KEY=%s", OPAQUE),
    ("$env:CLIENT_SECRET = '%s'", OPAQUE),
    ("set -x STRIPE_TOKEN %s", OPAQUE),
    ("ENV POSTGRES_PASSWORD hunter2hunter2", "hunter2hunter2"),
    ("spring.datasource.password=%s", PHRASE),
    ("password: hunter2", "hunter2"),
    ("  db_password: correcthorse\n  port: 5432", "correcthorse"),
    ('passphrase = "correct horse battery staple"', "correct horse battery staple"),
    ("define('DB_PASSWORD', 's3kr1t-Pa55');", "s3kr1t-Pa55"),
    ("'password' => 'rosebud19',", "rosebud19"),
    (':secret_token => "%s"', LONG),
    ('Password: "Kx9#mmPq",', "Kx9#mmPq"),
    ('apiKey: "%s",', OPAQUE),
    ('let accessToken: String = "%s"', LONG),
    ('password := "swordfish"', "swordfish"),
    ('config["client_secret"] = "%s"', OPAQUE),
    ('setPassword("tr0ub4dor&3")', "tr0ub4dor&3"),
    ("monkeypatch.setenv('ACME_API_KEY', '%s')", OPAQUE),
    ("<password>sunshine42!</password>", "sunshine42!"),
    ('<add key="SmtpPassword" value="P4ssw0rd#1" />', "P4ssw0rd#1"),
    ("- name: REDIS_PASSWORD\n  value: blue7Whale", "blue7Whale"),
    ('{"name": "API_TOKEN", "value": "%s"}', OPAQUE),
    ('{\\"password\\": \\"hunter2\\", \\"retries\\": 3}', "hunter2"),
    ('{"auth": {"refresh_token": "%s"}}', LONG),
    ("{'access_token': '%s'}", LONG),
    ("Server=db1;Database=app;User Id=sa;Password=Str0ng#Pass;Encrypt=true", "Str0ng#Pass"),
    ("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=%s=", draw(43, BASE64)),
    ("//registry.npmjs.org/:_authToken=%s", LONG),
    ('{"auths": {"ghcr.io": {"auth": "%s"}}}', base64.b64encode(b"bot:Abc123xyz789").decode()),
    ("client-key-data: %s", draw(120, BASE64)),
    ("token_prod: %s", OPAQUE),
    ("| Password | Gr33nTea!8 |", "Gr33nTea!8"),
    ("**Password:** Gr33nTea!8", "Gr33nTea!8"),
    ("secret_key_base: %s", draw(128, HEX)),
    ("export OPENAI_KEY='%s'", LONG),
    ("Passwort: Sommer2024!", "Sommer2024!"),
    ("contraseña: verano2024X", "verano2024X"),
    ("数据库密码：Qwer1234!@", "Qwer1234!@"),
    ("WIREGUARD_PRIVATE_KEY=%s=", draw(43, BASE64)),
    ("private_key = 0x%s", draw(64, HEX)),
    ("machine api.example.com login bot password %s", OPAQUE),
    ("db.internal:5432:app:svc:%s", OPAQUE),
    # URLs
    ("postgres://u:p4ss@db/x", "p4ss"),
    ("postgresql+psycopg://svc:p%%40ss-w0rd@db:5432/x", "p%40ss-w0rd"),
    ("redis://:pw@db/0", "pw@"),
    ("mongodb+srv://app:kX7@cluster0.example.net/prod?retryWrites=true", "kX7@"),
    ("amqp://guest:%s@rabbit:5672/%%2f", OPAQUE),
    ("git remote set-url origin https://oauth2:%s@git.example.org/a/b.git", OPAQUE),
    ("pip install --index-url https://__token__:%s@pypi.example.org/simple app", LONG),
    ("https://%s@sentry.example.io/42", draw(32, HEX)),
    ("postgres:\\/\\/u:%s@h\\/x", OPAQUE),
    ("mysql://root:ab/cd+ef12@db.example/x", "ab/cd+ef12"),
    ("GET /v1/items?limit=5&api_key=%s HTTP/1.1", OPAQUE),
    ("https://maps.example.com/geocode?key=%s&q=x", LONG),
    ("https://acct.blob.core.windows.net/c/b?sv=2022-11-02&sig=%s%%3D", draw(43)),
    ("https://b.s3.amazonaws.com/k?X-Amz-Signature=%s", draw(64, HEX)),
    ("otpauth://totp/Acme:bob?secret=%s&issuer=Acme", draw(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    ("callback?code=%s&state=xyz", LONG),
    # headers
    ("Authorization: Bearer %s", OPAQUE),
    ("authorization: token %s", LONG),
    ("'Authorization': 'Basic %s'", base64.b64encode(b"alice:wonder123").decode()),
    ("Authorization: ApiKey %s", LONG),
    ("X-Api-Key: %s", OPAQUE),
    ("x-goog-api-key: %s", LONG),
    ("PRIVATE-TOKEN: %s", OPAQUE),
    ("X-Vault-Token: %s", OPAQUE),
    ("Ocp-Apim-Subscription-Key: %s", draw(32, HEX)),
    ("Cookie: theme=dark; sessionid=%s; lang=en", draw(32, LOWER)),
    ("Set-Cookie: connect.sid=s%%3A%s; Path=/; HttpOnly", draw(40)),
    ("Cookie: _ga=GA1.2; remember_me=%s", LONG),
    ("AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=%s", draw(64, HEX)),
    ("headers={'Authorization': f'Bearer %s'}", LONG),
    # command lines
    ("mysql -h db -u root -pTr1ckyPass shop", "Tr1ckyPass"),
    ("mysqldump --password=Tr1ckyPass shop > dump.sql", "Tr1ckyPass"),
    ('tool -p"p4 ss" run', "p4 ss"),
    ("sshpass -p 'Qw3rty!' ssh root@host", "Qw3rty!"),
    ("curl -u admin:s3cretPw https://x.example/api", "s3cretPw"),
    ("curl --user 'ci:%s' https://x.example/api", OPAQUE),
    ("redis-cli -h cache -a f00barbaz ping", "f00barbaz"),
    ("podman login -u bot -p %s quay.io", OPAQUE),
    ("deployctl --token %s --region eu", OPAQUE),
    ("helm upgrade app . --set auth.rootPassword=aBc123xYz", "aBc123xYz"),
    ("app --db-password letmein99 --port 80", "letmein99"),
    ("keytool -storepass changeit99 -alias x", "changeit99"),
    ("kubectl create secret generic s --from-literal=password=blue7Whale", "blue7Whale"),
    ("PGPASSWORD=blue7Whale psql -h db", "blue7Whale"),
    ("openssl rsa -in k.pem -passin pass:blue7Whale", "blue7Whale"),
    ("echo 'blue7Whale' | sudo -S apt update", "blue7Whale"),
    ("ldapsearch -x -D cn=admin -w blue7Whale", "blue7Whale"),
    ("smbclient //nas/share -U bob%%blue7Whale", "blue7Whale"),
    ("CREATE USER app WITH PASSWORD 'blue7Whale';", "blue7Whale"),
    ("ALTER USER app IDENTIFIED BY 'blue7Whale';", "blue7Whale"),
    ("heroku config:set MAIL_PASSWORD=blue7Whale", "blue7Whale"),
    ("aws configure set aws_secret_access_key %s", draw(40, BASE64)),
    ("docker run -e MYSQL_ROOT_PASSWORD=blue7Whale mysql:8", "blue7Whale"),
    ("ConvertTo-SecureString 'blue7Whale' -AsPlainText -Force", "blue7Whale"),
    # prose
    ("the API Key Zk39-fhQ2-77Lp works", "Zk39-fhQ2-77Lp"),
    ("prod password is maple-Xy9-kettle and nothing else", "maple-Xy9-kettle"),
    ("The password for the staging database is hunter2, ask Bob if it changes.", "hunter2"),
    ("login works once the root password was changed to `Tr1ck!Pony`", "Tr1ck!Pony"),
    ('Use the token "%s" for the sandbox.', OPAQUE),
    ("Error: Incorrect API key provided: %s. You can find yours in the console.", LONG),
    ("The client secret is %s; it expires in May.", OPAQUE),
    ("log in with credentials admin / S3same!Open", "S3same!Open"),
    ("credentials: svc-user:Wint3r!Coat", "Wint3r!Coat"),
    ("Tiger123!abc is the admin password", "Tiger123!abc"),
    ("use %s as the access token", OPAQUE),
    ("auth token (%s) was rejected", LONG),
    ("my passphrase is 'Xylo-phone 44'", "Xylo-phone 44"),
    (
        "seed phrase: " + "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "sausage worth useful",
    ),
    ("line\\ntoken=%s\\nline", OPAQUE),
    ("line\\nsecret: %s", OPAQUE),
    ("token=Q7mTz2LwX9cRb4NvK1sHd8PyJ3", "Q7mTz2LwX9cRb4NvK1sHd8PyJ3"),
)


@pytest.mark.parametrize(("template", "secret"), IN_CONTEXT)
def test_a_secret_that_only_its_surroundings_give_away_goes(template: str, secret: str) -> None:
    text = template % secret if "%s" in template else template.replace("%%", "%")
    scrubbed = scrub(text)
    assert secret not in scrubbed.text
    assert REDACTED in scrubbed.text


CLEAN = (
    # ids, hashes, numbers
    f"memory {uuid()} was archived",
    f"memory_id={uuid()} session={uuid()}",
    f"commit {draw(40, HEX)}",
    f"sha512-{draw(86, BASE64)}==",
    f"digest: sha256:{draw(64, HEX)}",
    f'ETag: W/"{draw(32, HEX)}"',
    f"traceparent: 00-{draw(32, HEX)}-{draw(16, HEX)}-01",
    f'_id: ObjectId("{draw(24, HEX)}")',
    f"run 01J{draw(23, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')}",
    "version 1.2.3-rc.4+build.5678",
    f'integrity="sha384-{draw(64, BASE64)}"',
    f"cache-key: node-modules-{draw(64, HEX)}",
    f"etag_key={draw(32, HEX)}",
    "2026-03-04T10:22:01.123456Z",
    "0xdeadbeefcafebabe",
    "8.8.8.8:53",
    "call +1 555 0100 123",
    "4111 rows, 23 columns",
    # names and paths
    "loadQuarterlyStockReconciliationSnapshotHandler",
    "tobaruvimokelasidofe",
    string.ascii_lowercase,
    string.ascii_uppercase,
    "CACHE_PASSWORD_FILE=/etc/keys/cache_password",
    "PASSWORD_RESET_URL=https://example.com/reset",
    "/run/secrets/db_password",
    "TOKEN_PATH=/var/run/secrets/token",
    "secretName: app-tls",
    "secretKeyRef:\n  name: db\n  key: password",
    "api_key_id: 17",
    "src/auth/token_store.py:214: in refresh_token",
    "from app.secrets import load_secret",
    "class PasswordHasher(BaseHasher):",
    "org.springframework.security.oauth2.provider.token.DefaultTokenServices",
    "com.example.internal.AuthenticationTokenProviderFactory",
    "sk-learn-contrib/imbalanced-learn",
    "hf_transfer is faster",
    "npm_config_registry=https://registry.npmjs.org",
    "pat-a-cake",
    "key-value-store-implementation-notes",
    "api-gateway-service",
    "glpat- is the prefix of GitLab tokens",
    "xoxb- tokens belong to bots",
    "re_compile_patterns_lazily",
    "sl.exe",
    "fc-list | sort",
    "dp.pt. is Doppler's prefix",
    "task-sk-runner-service-configuration-loader",
    # places for a secret, and code
    "API_KEY=",
    'api_key=""',
    "password = ''",
    "token: ~",
    "password: null",
    "PASSWORD=changeme",
    "api_key: your-api-key-here",
    "password: <your password>",
    "export TOKEN=$(vault read -field=token secret/x)",
    "token = os.getenv('TOKEN')",
    "API_KEY: ${{ secrets.KEY }}",
    "secret: !vault |",
    "password: \"{{ lookup('env', 'DB_PASS') }}\"",
    "apiKey: process.env.API_KEY",
    "key: api_key",
    "token=$TOKEN",
    "password=%(password)s",
    "api_key=settings.api_key,",
    "def login(user: str, password: str) -> Token:",
    "token: Optional[str] = None",
    "const token = await getToken();",
    "if (password !== confirmPassword) {",
    "password=password, user=user",
    "auth=HTTPBasicAuth(user, pw)",
    "self._token = token or self._load_token()",
    "password: string;",
    "interface Login { username: string; password: string }",
    "token = tokens[i + 1]",
    "next_token = response['NextToken']",
    "secrets.token_hex(32)",
    "hash_password(password, salt)",
    "SELECT password FROM users WHERE id = 7",
    "ALTER TABLE users ADD COLUMN password_hash text NOT NULL",
    "password = forms.CharField(widget=x)",
    "postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app",
    "https://user:password@example.com is the form of such a URL",
    "git@github.com:acme/app.git",
    "ssh://git@example.com:2222/acme/app.git",
    "http://localhost:8080/@scope/pkg",
    "docker://alpine:3.19@sha256:abc",
    "mailto:a@example.com",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $ACCESS_TOKEN",
    "-H 'Authorization: token YOUR_TOKEN'",
    "Authorization: required",
    "curl -u user: https://api.example.com",
    "docker run -u 1000:1000 app",
    "mkdir -p a/b/c",
    "cp -p x y",
    "mysql -u root -p shop",
    "ssh -p 2222 host",
    "--password-file /etc/x/pw",
    "--token-ttl 24h",
    "tool --password",
    '--from-literal=password="$PASSWORD"',
    "login -p <password>",
    "sig=abc",
    "Cookie: theme=dark; lang=en-GB",
    "Set-Cookie: a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "?page_token=abc&page=2",
    # prose
    "The password must have at least 8 characters, one of them a digit.",
    "Passwords are hashed with bcrypt, cost 12.",
    "Tokens cost 0.003 USD per 1k.",
    "The secret is to retry twice and then give up.",
    "A token is about 4 characters; 128k tokens fit.",
    "The key is that retries back off.",
    "secret sharing with 3-of-5 shares",
    "Set the token limit to 4096 before calling gpt-4o-mini.",
    "Rotate the API key every 90 days.",
    "the token endpoint of OAuth2 is /oauth2/token",
    "The API key for text-embedding-3-small is read from the environment.",
    "The password reset for user 4711 failed",
    "the access token expires after 3600s",
    "If the token is expired, call refresh() and retry once.",
    "Basic authentication is off",
    "BASIC abcdefghi programs",
    "Basic usage",
    "The bearer token authentication scheme",
    "an authorization code grant",
    "The lesson: never print a password.",
    "password manager vs. plain file",
    "primary key (tenant_id, memory_id)",
    "sort_key=created_at",
    "the partition key is user_id2",
    "KEY `idx_user_2` (`user_id`)",
    "key=value",
    "a private key starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "Press any key to continue...",
    "Key insight: use a heap",
    '{"key": "user:42", "value": 17}',
    "token_type: bearer",
    '"token_count": 512',
    "login / logout",
    "sign in at https://example.com/login",
    "token budget: 500",
    "stop_token_id=128009",
    "password: required",
    "Incorrect password: try again",
    "auth: none",
    "authors: A. B. Smith2",
    "compass=north1",
    "bypass: 12ab34cd",
    "pass: 14, fail: 2",
    "authenticate via SSO2",
    "monkey=banana12",
    "credential helper: osxkeychain",
    "The mnemonic for resistor colours is long",
    "Use `--secret id=npm,src=.npmrc` in docker build",
    "no secret: everything is public",
    "Die Passwörter stehen im Tresor.",
    "密码不能为空",
    "the s3 key is images/2024/01/cat.png",
)


@pytest.mark.parametrize("text", CLEAN)
def test_what_is_no_secret_stays_as_it_was(text: str) -> None:
    assert scrub(text).text == text
