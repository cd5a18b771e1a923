"""The scrubber: names stay, values go, counts are kept, and no input makes it slow."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.screening.scrub import (
    DEFAULT_RULES,
    REDACTED,
    RULES_VERSION,
    Rule,
    RuleSet,
    scrub,
    scrub_each,
    scrub_value,
)

TOKEN = "ghp_" + "Ab3" * 12
KEY_LINES = "\n".join(("MIIEpAIBAAKCAQEA" + "x7Qp" * 12)[:64] for _ in range(5))
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


def test_the_name_stays_and_the_value_goes() -> None:
    assert scrub("export DB_PASS=velvet9river && make").text == f"export DB_PASS={REDACTED} && make"


def test_what_was_found_is_counted_by_rule_and_not_kept() -> None:
    scrubbed = scrub(f"GITHUB_TOKEN={TOKEN}\npassword: hunter2\npassword: swordfish9")

    assert scrubbed.counts == {"github-token": 1, "password": 2}
    assert TOKEN not in repr(scrubbed)
    assert "hunter2" not in repr(scrubbed)


def test_findings_that_overlap_are_one() -> None:
    assert scrub(f"api_key: {TOKEN}").text == f"api_key: {REDACTED}"
    assert sum(scrub(f"Authorization: Bearer {TOKEN}").counts.values()) == 1


def test_clean_text_comes_back_as_the_same_object() -> None:
    text = "Retry with backoff."
    assert scrub(text).text is text
    assert scrub("").text == ""


def test_a_known_example_key_is_caught_without_a_word_around_it() -> None:
    assert scrub("AKIA" + "IOSFODNN7EXAMPLE").text == REDACTED


@pytest.mark.parametrize(
    "block",
    [
        f"{BEGIN}\n{KEY_LINES}\n{END}",
        f"{BEGIN}\n{KEY_LINES}\n{END}".replace("\n", "\r\n"),
        json.dumps({"key": f"{BEGIN}\n{KEY_LINES}\n{END}"}),
        json.dumps(json.dumps({"key": f"{BEGIN}\n{KEY_LINES}\n{END}"})),
        f"{BEGIN}\n{KEY_LINES}",
        json.dumps(f"{BEGIN}\n{KEY_LINES}"),
        f"{BEGIN}\n{KEY_LINES}\n\nAnd then the deploy went through.",
        "key: |\n  " + f"{BEGIN}\n{KEY_LINES}\n{END}".replace("\n", "\n  "),
        "> " + f"{BEGIN}\n{KEY_LINES}\n{END}".replace("\n", "\n> "),
        f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{KEY_LINES}\n{END}",
        f"{BEGIN}\n{KEY_LINES}\n{BEGIN}\n{KEY_LINES}\n{END}",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: X\n\n{KEY_LINES}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
        f"---- BEGIN SSH2 PRIVATE KEY ----\nComment: x\n{KEY_LINES}\n---- END SSH2 PRIVATE KEY ----",
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 5\n{KEY_LINES}\nPrivate-MAC: x",
        f"{BEGIN}{KEY_LINES.replace(chr(10), '')}{END}",
    ],
)
def test_the_whole_body_of_a_private_key_goes(block: str) -> None:
    scrubbed = scrub(block).text

    assert not any(line[i : i + 12] in scrubbed for line in KEY_LINES.split("\n") for i in range(52))
    assert scrub(scrubbed).text == scrubbed
    assert "deploy went through" in scrubbed or "deploy" not in block


@pytest.mark.parametrize(
    "text",
    [
        f"The file starts with {BEGIN} and ends with {END}.",
        "-----BEGIN PUBLIC KEY-----\n" + KEY_LINES + "\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + KEY_LINES + "\n-----END CERTIFICATE-----",
    ],
)
def test_blocks_that_hold_no_private_key_stay(text: str) -> None:
    assert scrub(text).text == text


def test_a_secret_behind_two_million_characters_is_found() -> None:
    assert scrub("x" * 2_000_000 + " token=" + TOKEN).text.endswith(f" token={REDACTED}")


def test_the_end_of_a_private_key_may_be_far_away() -> None:
    text = f"{BEGIN}\n" + ("MIIE" * 16 + "\n") * 1_600 + END
    assert scrub(text).text == f"{BEGIN}\n{REDACTED}\n{END}"


@pytest.mark.parametrize("text", ["İ token=" + TOKEN, "ß token=" + TOKEN, "İİİ PASSWORD=hunter22"])
def test_letters_that_change_length_in_lower_case_shift_nothing(text: str) -> None:
    assert scrub(text).text == text.rpartition("=")[0] + "=" + REDACTED


# What users add.


def test_a_rule_of_ones_own_is_tried_first_and_counted_under_its_name() -> None:
    rules = RuleSet(extra=[Rule("badge", ("badge",), r"badge no\. (?P<secret>\d{6})")])

    assert scrub("Badge no. 1: badge no. 123456", rules).text == f"Badge no. 1: badge no. {REDACTED}"
    assert scrub("badge no. 123456", rules).counts == {"badge": 1}


def test_a_rule_without_a_group_drops_all_it_matched() -> None:
    assert scrub("id AC-77", RuleSet(extra=[Rule("case", (), r"AC-\d+")])).text == f"id {REDACTED}"


def test_an_empty_match_drops_nothing() -> None:
    assert scrub("abc", RuleSet(extra=[Rule("empty", (), r"x*")])).text == "abc"


def test_an_allowed_value_stays_but_only_as_a_whole() -> None:
    rules = RuleSet(extra=[Rule("any", ("secret_",), r"secret_\w+")], allow=[r"secret_allowed"])

    assert scrub("secret_allowed secret_allowed2", rules).text == f"secret_allowed {REDACTED}"


@pytest.mark.parametrize("rules", [{"extra": [Rule("broken", (), "(")]}, {"allow": ["["]}])
def test_a_pattern_that_cannot_be_compiled_is_named(rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"broken|allow"):
        RuleSet(**rules)


# JSON values.


def test_a_key_that_names_a_secret_costs_its_value() -> None:
    value = {"password": "hunter2", "nested": [{"Api-Key": TOKEN, "retries": 3}], "title": "x", "ok": None, "f": 0.5}

    scrubbed, counts = scrub_value(value)

    assert scrubbed == {
        "password": REDACTED,
        "nested": [{"Api-Key": REDACTED, "retries": 3}],
        "title": "x",
        "ok": None,
        "f": 0.5,
    }
    assert sum(counts.values()) == 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Authorization": "Bearer " + "x7Qp" * 6}, {"Authorization": f"Bearer {REDACTED}"}),
        ({"Cookie": "theme=dark; sid=" + "x7Qp" * 6}, {"Cookie": f"theme=dark; sid={REDACTED}"}),
        ({"name": "DB_PASSWORD", "value": "plum river"}, {"name": "DB_PASSWORD", "value": "plum river"}),
        ({"name": "DB_PASSWORD", "value": "plum9"}, {"name": "DB_PASSWORD", "value": REDACTED}),
        ({"password": {"value": "plum9"}}, {"password": {"value": REDACTED}}),
        ({"password": ["plum9", "kiwi8"]}, {"password": [REDACTED, REDACTED]}),
        ({"password": 12345678}, {"password": REDACTED}),
        ({"passphrase": "plum river stone"}, {"passphrase": REDACTED}),
        ({"password": True, "token": 4096}, {"password": True, "token": 4096}),
        ({"password": "", "token": None}, {"password": "", "token": None}),
        ({"password": "<your password>"}, {"password": "<your password>"}),
        ({"token_count": "1234abcd", "max_tokens": 500}, {"token_count": "1234abcd", "max_tokens": 500}),
        ({TOKEN: 1, TOKEN[:-1] + "x": 2, 3: 4}, {REDACTED: 1, f"{REDACTED} 2": 2, 3: 4}),
        ({f"seen {TOKEN}": "x"}, {f"seen {REDACTED}": "x"}),
        (("a", TOKEN), ["a", REDACTED]),
        (TOKEN, REDACTED),
        (7, 7),
    ],
)
def test_values_of_json_are_scrubbed_with_their_keys_in_mind(value: Any, expected: Any) -> None:
    scrubbed, _ = scrub_value(value)

    assert scrubbed == expected
    assert scrub_value(scrubbed) == (expected, {})


def test_an_allowed_value_stays_in_json_too() -> None:
    assert scrub_value({"password": "hunter2"}, RuleSet(allow=["hunter2"])) == ({"password": "hunter2"}, {})


def test_a_value_nested_too_deep_is_refused() -> None:
    value: Any = "x"
    for _ in range(200):
        value = [value]
    with pytest.raises(LimitExceededError, match="levels"):
        scrub_value(value)


# Laws.

PIECES = st.sampled_from(
    [
        *(
            "password",
            "token",
            "api_key",
            "secret",
            "Authorization: Bearer ",
            "=",
            ": ",
            " is ",
            "'",
            '"',
            '\\"',
            "\n",
            " ",
            "--",
        ),
        *(
            "-p ",
            "curl -u a:",
            "postgres://u:",
            "@host/",
            "Cookie: sid=",
            "; ",
            REDACTED,
            TOKEN,
            "hunter2",
            "x7Qp" * 5,
            "sk-",
        ),
        *(
            BEGIN,
            END,
            KEY_LINES,
            "value",
            "name",
            "<",
            ">",
            "(",
            ")",
            "[",
            "{",
            "}",
            "the",
            "${X}",
            "?key=",
            "&",
            ",",
            "|",
            "İ",
            "密码",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=14).map("".join))


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_scrubbing_twice_changes_nothing(text: str) -> None:
    once = scrub(text).text

    assert scrub(once).text == once


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=200, deadline=None)
def test_texts_scrubbed_together_are_as_if_scrubbed_alone(texts: list[str]) -> None:
    assert scrub_each(texts) == [scrub(text) for text in texts]


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_is_to_be_dropped_is_in_order_and_apart(text: str) -> None:
    spans = DEFAULT_RULES.find(text)

    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_a_token_survives_no_neighbours(before: str, after: str) -> None:
    assert f" {TOKEN} " not in scrub(f"{before} {TOKEN} {after}").text


def test_the_version_of_the_rules_is_a_number_that_can_grow() -> None:
    assert RULES_VERSION >= 1


HOSTILE = {
    "one letter": lambda n: "A" * n,
    "json": lambda n: '{"a":{"b":1},' * (n // 13),
    "an open quote": lambda n: "password='" + "\\" * n,
    "names without values": lambda n: "password token api_key " * (n // 23),
    "names with each other": lambda n: "token=password=secret=" * (n // 22),
    "open quotes": lambda n: "password=\"token='" * (n // 17),
    "sentences": lambda n: "the password for the old box is " * (n // 32),
    "headers": lambda n: "Authorization: Cookie: sid=" * (n // 27),
    "urls": lambda n: "http://a:b" * (n // 10),
    "begin lines": lambda n: (BEGIN + "\n") * (n // 32),
    "dashes": lambda n: "-" * n,
    "prefixes": lambda n: "sk-ghp_eyJ.xoxb-" * (n // 16),
    "options": lambda n: "mysql -p curl -u --token " * (n // 25),
    "base64": lambda n: "aB3+x/Z9" * (n // 8),
    "words": lambda n: "mnemonic " + "abcd " * (n // 5),
    "backslashes": lambda n: '\\"' * (n // 2),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_grows_with_the_length_of_hostile_text_and_no_faster(kind: str) -> None:
    def seconds(n: int) -> float:
        text = HOSTILE[kind](n)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            scrub(text)
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(40_000), seconds(80_000)

    assert large < 3.5 * small + 0.02


@pytest.mark.perf
@pytest.mark.parametrize(
    "text",
    [
        "A" * 1_000_000,
        "A" * 256_000,
        '{"a":{"b":1},' * 150_000,
        "password='" + "\\" * 100_000,
        ("ValueError: cannot parse value 17 of /srv/app/bank.py: unexpected token, password missing\n" * 60_000)[
            :5_000_000
        ],
        "QUJDREVGR0hJSktMTU5P" * 250_000,
    ],
    ids=["letters", "dump", "json", "backslashes", "exception", "base64"],
)
def test_megabytes_take_less_than_half_a_second(text: str) -> None:
    start = time.process_time()
    scrub(text)

    assert time.process_time() - start < 0.5
