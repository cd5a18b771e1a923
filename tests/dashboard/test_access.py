"""Who may come in, and what a stranger is told: nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from starlette.testclient import TestClient

from reasoningbank import ReasoningBank
from reasoningbank.dashboard import Access
from reasoningbank.dashboard.app import LARGEST_FORM
from tests.dashboard.conftest import HOST, PROJECT, Visit, Visitor

PATHS = ["/", f"/p/{PROJECT}", f"/p/{PROJECT}/lessons", "/shared", "/static/style.css", "/tasks/x/events", "/nothing"]


@pytest.fixture(autouse=True)
def lesson(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory.id


def stranger(visitor: Visitor) -> TestClient:
    return TestClient(visitor.client.app, base_url=HOST, follow_redirects=False)


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_answered(visitor: Visitor, path: str) -> None:
    answer = stranger(visitor).get(path)

    assert answer.status_code == 401
    assert "Quote" not in answer.text
    assert "billing" not in answer.text


@pytest.mark.parametrize("token", ["", "x", "'", "é"])
def test_a_wrong_token_lets_nobody_in(visitor: Visitor, token: str) -> None:
    answer = stranger(visitor).get("/", params={"token": token})

    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_token_becomes_a_cookie_that_no_script_reads_and_no_other_site_sends(visitor: Visitor) -> None:
    token = visitor.site.access.token
    answer = stranger(visitor).get(f"/p/{PROJECT}/lessons?class=all&token={token}")

    assert answer.status_code == 303
    assert answer.headers["location"] == f"/p/{PROJECT}/lessons?class=all"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert token.lower() not in cookie


def test_a_bearer_token_is_as_good_as_the_cookie(visitor: Visitor) -> None:
    client = stranger(visitor)

    assert client.get("/", headers={"authorization": f"Bearer {visitor.site.access.token}"}).status_code != 401
    assert client.get("/", headers={"authorization": "Bearer x"}).status_code == 401


def test_the_cookie_of_another_dashboard_opens_nothing(visit: Visit) -> None:
    one, other = visit(), visit()
    one.client.cookies = other.client.cookies

    assert one.client.get("/").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example:8766"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "file://127.0.0.1:8766"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": HOST}, 200),
        ({"host": "localhost:8766", "origin": "http://localhost:8766"}, 200),
    ],
)
def test_host_and_origin_are_checked(visitor: Visitor, headers: Mapping[str, str], status: int) -> None:
    access = visitor.site.access
    refused = access.stranger({"host": "127.0.0.1:8766", **headers})

    assert (refused.status if refused else 200) == status


def test_where_others_reach_it_numbers_are_served_and_names_are_not() -> None:
    access = Access("0.0.0.0")

    assert access.stranger({"host": "192.168.1.5:8766"}) is None
    assert access.stranger({"host": "rebound.example"}) is not None


def test_a_dashboard_goes_by_the_names_that_it_was_given() -> None:
    access = Access(names=("bank.example",))

    assert access.stranger({"host": "bank.example", "origin": "https://bank.example"}) is None
    assert access.stranger({"host": "rebound.example"}) is not None


@pytest.mark.parametrize("csrf", [None, "", "x"])
def test_a_change_without_the_form_s_token_changes_nothing(
    visitor: Visitor, bank: ReasoningBank, lesson: str, csrf: str | None
) -> None:
    fields = {} if csrf is None else {"csrf": csrf}
    answer = visitor.client.post(f"/p/{PROJECT}/lessons/{lesson}/delete", data=fields, headers={"origin": HOST})

    assert answer.status_code == 403
    assert bank.get(lesson).title == "Quote paths"


def test_a_change_from_another_site_changes_nothing(visitor: Visitor, bank: ReasoningBank, lesson: str) -> None:
    fields = {"csrf": visitor.site.access.csrf}
    path = f"/p/{PROJECT}/lessons/{lesson}/delete"

    assert visitor.client.post(path, data=fields, headers={"origin": "https://evil.example"}).status_code == 403
    assert bank.get(lesson).title == "Quote paths"


def test_looking_at_the_address_of_a_change_changes_nothing(visitor: Visitor, bank: ReasoningBank, lesson: str) -> None:
    visitor.get(f"/p/{PROJECT}/lessons/{lesson}/delete", status=405)

    assert bank.get(lesson).title == "Quote paths"


def test_read_only_shows_all_and_offers_and_takes_no_change(visit: Visit, bank: ReasoningBank, lesson: str) -> None:
    visitor = visit(read_only=True)
    for path in (f"/p/{PROJECT}", f"/p/{PROJECT}/lessons/{lesson}", f"/p/{PROJECT}/review"):
        assert 'method="post"' not in visitor.get(path)

    assert "read-only" in visitor.post(f"/p/{PROJECT}/lessons/{lesson}/delete", status=403)
    assert bank.get(lesson).title == "Quote paths"


@pytest.mark.parametrize("path", ["/", f"/p/{PROJECT}", "/static/app.js", "/p/nowhere"])
def test_every_answer_lets_nothing_run_but_our_files(visitor: Visitor, path: str) -> None:
    answer = visitor.client.get(path)
    policy = answer.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] in ("no-store", "no-cache")


def test_no_page_holds_a_script_or_a_style_of_its_own_or_an_address_elsewhere(visitor: Visitor, lesson: str) -> None:
    for path in (f"/p/{PROJECT}", f"/p/{PROJECT}/lessons", f"/p/{PROJECT}/lessons/{lesson}", f"/p/{PROJECT}/runs"):
        page = visitor.get(path)
        assert re.findall(r"<script[^>]*>[^<]", page) == []
        assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", page) == []
        assert re.findall(r"""(?:src|href|action)="(?!/)""", page.replace('href="#main"', "")) == []


def test_a_form_that_is_too_large_is_refused_unread(visitor: Visitor, lesson: str) -> None:
    visitor.post(f"/p/{PROJECT}/lessons/{lesson}/archive", status=413, reason="x" * LARGEST_FORM)


@pytest.mark.parametrize("project", ["nowhere", "..", "~2E~2E", "a~2Fb", "~FF", "%2e%2e"])
def test_no_address_leads_to_another_project_or_makes_one(visitor: Visitor, project: str) -> None:
    assert visitor.client.get(f"/p/{project}/lessons").status_code == 404
    assert visitor.site.banks.projects() == [PROJECT]
