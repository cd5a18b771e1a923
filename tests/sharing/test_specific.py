"""What is specific to one project is found in a lesson's texts, with its places; what is common is not."""

from __future__ import annotations

import pytest

from reasoningbank.sharing import specifics


def kinds(text: str, *names: str) -> list[tuple[str, str]]:
    return [(found.kind, found.text) for found in specifics({"content": text}, names)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read /srv/billing/conf/app.yaml first.", ("path", "/srv/billing/conf/app.yaml")),
        ("It is in ~/notes/old", ("path", "~/notes/old")),
        (r"Open C:\Users\Public\ledger.xlsx", ("path", r"C:\Users\Public\ledger.xlsx")),
        ("Change services/billing/api.py there", ("path", "services/billing/api.py")),
        ("Deploy to db1.prod.acme.internal at night", ("host", "db1.prod.acme.internal")),
        ("Call https://api.acme.io/v2/pay?x=1 twice", ("host", "https://api.acme.io/v2/pay?x=1")),
        ("Ping 10.4.17.2:5432 before", ("host", "10.4.17.2:5432")),
        ("Mail ops@acme.com if it fails", ("person", "ops@acme.com")),
        ("See BILL-1234 for why", ("id", "BILL-1234")),
        ("The account 4711081500 is locked", ("id", "4711081500")),
        ("Order 123e4567-e89b-12d3-a456-426614174000 again", ("id", "123e4567-e89b-12d3-a456-426614174000")),
        ("Since commit 9fceb02d0ae598e it works", ("id", "9fceb02d0ae598e")),
        ("Use arn:aws:s3:::invoices to read", ("id", "arn:aws:s3:::invoices")),
        ("Fixed in #482 already", ("id", "#482")),
        ("Jane Miller owns the schema", ("person", "Jane Miller")),
        ("Please ask Rosalind before a release", ("person", "Rosalind")),
        ("Assign it to @kowalski at once", ("person", "kowalski")),
    ],
)
def test_a_path_a_host_an_id_or_a_person_is_found(text: str, found: tuple[str, str]) -> None:
    assert kinds(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests before you push.",
        "Write and/or read the value; 3/4 of the runs pass.",
        "Use UTF-8, ISO-8601 and SHA-256.",
        "Try http://localhost:8000/health and 127.0.0.1.",
        "Look at https://example.com/docs",
        "Put it under /tmp/out and read /etc/hosts",
        "In 2024 there were 10000 rows.",
        "Use node.js or asp.net for it",
        "Ask for a review",
        "Decorate it with @pytest.fixture",
        "Call json.loads(text) once",
        "",
    ],
)
def test_what_is_common_is_not_found(text: str) -> None:
    assert kinds(text) == []


def test_names_that_are_given_are_found_whatever_their_case_as_whole_words() -> None:
    assert kinds("Globex wants globex-like invoices, not Globexian ones", "globex", " ") == [
        ("name", "Globex"),
        ("name", "globex"),
    ]


def test_the_places_are_those_in_the_field() -> None:
    texts = {"title": "Ask Rosalind", "content": "See BILL-1234."}

    found = specifics(texts)

    assert [(one.field, texts[one.field][one.start : one.end]) for one in found] == [
        ("title", "Rosalind"),
        ("content", "BILL-1234"),
    ]
    assert str(found[1]) == "id 'BILL-1234' in content at 4"


def test_what_is_part_of_something_found_is_not_found_again() -> None:
    assert kinds("https://ops@acme.com/srv/billing/BILL-1234") == [
        ("host", "https://ops@acme.com/srv/billing/BILL-1234")
    ]
