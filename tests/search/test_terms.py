"""What the keyword leg indexes and asks for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.memory import Draft, Memory
from reasoningbank.search.terms import (
    LONGEST_PASSAGE,
    LONGEST_QUERY,
    LONGEST_TERM,
    MOST_PASSAGES,
    keyword_text,
    lesson_passages,
    lesson_text,
    match_expression,
    query_terms,
    terms,
)
from tests.search.stored_index import TERMS_TABLE

Find = Callable[..., list[int]]


@pytest.fixture
def find() -> Find:
    """Index texts under 0, 1, 2, … and return the rows a query finds, best first."""

    def run(query: str, *texts: str) -> list[int]:
        database = sqlite3.connect(":memory:")
        try:
            database.execute(TERMS_TABLE)
            rows = [(row, " ".join(terms(text))) for row, text in enumerate(texts)]
            database.executemany("INSERT INTO terms(rowid, text) VALUES (?, ?)", rows)
            expression = match_expression(query_terms(query))
            found = "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank, rowid"
            return [row for (row,) in database.execute(found, (expression,))] if expression else []
        finally:
            database.close()

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Retries are CACHED", ["retri", "cach"], id="words are stemmed, stop words go"),
        pytest.param("fix #417", ["fix", "#417", "417"], id="issue number"),
        pytest.param("C++ and C# and F#.", ["c++", "c", "c#", "c", "f#", "f"], id="signs at the end of a name"),
        pytest.param("post-merge-hook", ["post-merge-hook", "post", "merg", "hook"], id="hyphens"),
        pytest.param("real-time and/or e.g.", ["real", "time", "e", "g"], id="two words are no identifier"),
        pytest.param("snake_case", ["snake_case", "snake", "case"], id="snake case"),
        pytest.param("getHTTPServer2", ["gethttpserver2", "get", "http", "server2"], id="camel case"),
        pytest.param("Python 3.11.2", ["python", "3.11.2", "3", "11", "2"], id="version"),
        pytest.param("std::vector", ["std::vector", "std", "vector"], id="path of names"),
        pytest.param("--no-verify", ["--no-verify", "verifi"], id="flag"),
        pytest.param("N=64 30%", ["n", "64", "30%", "30"], id="signs between words"),
        pytest.param("why's it slow, don’t know", ["slow", "know"], id="apostrophes"),
        pytest.param("Crème BRÛLÉE Straße Ødegård", ["creme", "brule", "strass", "odegard"], id="diacritics"),
        pytest.param("ﬁle Ｆｕｌｌ", ["file", "full"], id="compatibility forms"),
        pytest.param("ПРИВЕТ Ёж", ["привет", "еж"], id="another alphabet"),
        pytest.param("見直した", ["見", "直", "し", "た", "見直", "直し", "した"], id="characters and bigrams"),
        pytest.param("修复bug#417吗", ["修", "复", "修复", "bug", "#417", "417", "吗"], id="names inside Han"),
        pytest.param("ガ", ["ガ"], id="a voiced kana stays one character"),
        pytest.param("a_" * 40 + "b", ["b"], id="a name too long to be one is kept in parts"),
        pytest.param("x" * 100, ["x" * LONGEST_TERM], id="a word too long is cut"),
        pytest.param('" \t\u200b\x00 ()', [], id="nothing to find"),
    ],
)
def test_a_text_gives_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_query_asks_once_for_each_term_and_for_bigrams_only() -> None:
    assert query_terms("cache the Cache: 缓存失效, 缓存") == ["cach", "缓存", "存失", "失效"]
    assert query_terms("猫") == ["猫"]


def test_the_end_of_a_very_long_query_is_not_asked_for() -> None:
    assert query_terms("alpha " + "beta " * LONGEST_QUERY + "omega") == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("query", "there", "beside"),
    [
        ("缓存失效", "昨晚修复了缓存失效问题", "昨晚修复了登录问题"),
        ("점검표", "내일 배포전 점검표를 본다", "내일 배포한다"),
        ("見直", "設定を見直した", "設定を消した"),
        ("猫", "黒い猫が好き", "黒い犬が好き"),
        ("fix #417", "see #417 first", "417 rows came back"),
        ('C++ "z', "in C++ use RAII", "plan B"),
        ("post-merge-hook", "the post-merge-hook runs late", "merge the post, then hook it"),
        ("x AND (y", "x marks the spot", "and so on"),
        ("N=64 30%", "give it 30% more", "give it more"),
        ("why's the build slow, again?", "a slow build is a cold cache", "a fast test"),
        ("NEAR(a b) col:text* ^x", "near the column", "far"),
        ("getUserName", "call get_user_name", "call me"),
        ("naive", "naïve retries", "clever retries"),
    ],
)
def test_a_query_finds_what_it_names_first(find: Find, query: str, there: str, beside: str) -> None:
    filler = ["something else entirely", "another lesson about tests", "one about deployment"]
    assert find(query, beside, there, *filler)[0] == 1


@pytest.mark.parametrize("query", ["cache", "check", "CACHE"])
def test_every_text_that_has_the_word_is_found(find: Find, query: str) -> None:
    assert sorted(find(query, "alpha cache warm-up check", "beta cache eviction check")) == [0, 1]


@given(st.text(max_size=200))
def test_no_text_can_break_the_expression_and_each_finds_itself(text: str) -> None:
    database = sqlite3.connect(":memory:")
    try:
        database.execute(TERMS_TABLE)
        database.execute("INSERT INTO terms(text) VALUES (?)", (" ".join(terms(text)),))
        expression = match_expression(query_terms(text))
        found = expression and database.execute("SELECT 1 FROM terms WHERE terms MATCH ?", (expression,)).fetchall()
    finally:
        database.close()
    assert bool(found) == bool(query_terms(text))


@given(st.text(max_size=200))
def test_the_index_takes_each_term_as_it_is(text: str) -> None:
    database = sqlite3.connect(":memory:")
    try:
        database.execute(TERMS_TABLE)
        database.execute("CREATE VIRTUAL TABLE words USING fts5vocab(terms, row)")
        database.execute("INSERT INTO terms(text) VALUES (?)", (" ".join(terms(text)),))
        indexed = {term for (term,) in database.execute("SELECT term FROM words")}
    finally:
        database.close()
    assert indexed == set(terms(text))


def draft(title: str, content: str, **rest: str | list[str]) -> Draft:
    return Draft.model_validate({"title": title, "content": content, "outcome": Verdict.SUCCESS, **rest})


def test_the_embedder_sees_title_description_and_content() -> None:
    memory = draft("Retry idempotent calls", "Back off twice.", description="On timeouts.", applies_when="A call hangs")
    assert lesson_text(memory) == "Retry idempotent calls\nOn timeouts.\nBack off twice."


def test_a_title_cut_from_the_lesson_is_not_said_twice() -> None:
    assert lesson_text(draft("Back off…", "Back off twice.")) == "Back off twice."


def test_the_keyword_leg_sees_when_it_applies_and_the_tags_too() -> None:
    memory = draft("Retry", "Back off.", applies_when="A call hangs", tags=["http", "slow"])
    assert keyword_text(memory) == "Retry\nBack off.\nA call hangs\nhttp slow"


def test_a_stored_memory_gives_the_texts_of_its_draft() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    new = draft("Retry", "Back off.", description="On timeouts.", tags=["http"])
    stored = Memory(
        **new.model_dump(exclude={"confidence"}),
        id="m-1", project="p", confidence=0.8, initial_confidence=0.8, created_at=now, updated_at=now,
    )  # fmt: skip
    assert (lesson_text(stored), keyword_text(stored)) == (lesson_text(new), keyword_text(new))


def test_a_short_lesson_is_one_passage() -> None:
    memory = draft("Retry", "Back off. Then stop.", description="On timeouts.")
    assert lesson_passages(memory) == ("Retry", ["Retry. On timeouts.\nBack off. Then stop."])
    assert lesson_passages(draft("Back off…", "Back off twice.")) == ("", ["Back off twice."])


def test_a_long_lesson_is_split_at_the_ends_of_sentences_and_lines() -> None:
    sentences = [f"Sentence {number} says one thing about version 3.{number}." for number in range(40)]
    title, passages = lesson_passages(draft("Retry", " ".join(sentences[:20]) + "\n\n" + "\n".join(sentences[20:])))
    assert title == "Retry"
    assert " ".join(passage.removeprefix("Retry. ") for passage in passages) == " ".join(sentences)
    assert all(len(passage) <= LONGEST_PASSAGE + len("Retry. ") for passage in passages)
    assert len(passages) == 4


def test_a_very_long_lesson_is_known_by_its_first_passages() -> None:
    assert len(lesson_passages(draft("Retry", "One. " * 4000))[1]) == MOST_PASSAGES
    assert lesson_passages(draft("Retry", "x" * 900))[1] == ["Retry. " + "x" * 900]
