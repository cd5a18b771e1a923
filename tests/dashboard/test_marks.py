"""What a text shows beside itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.dashboard.addresses import address, segment, text_of
from reasoningbank.dashboard.marks import Found, changed, marked, read_findings


@given(st.text(alphabet="ab \n.é", max_size=60), st.text(alphabet="ab \n.é", max_size=60))
def test_a_comparison_holds_both_texts_whole(before: str, after: str) -> None:
    parts = changed(before, after)

    assert "".join(part.text for part in parts if part.kind != "new") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == after


def test_what_changed_is_told_word_by_word() -> None:
    assert [(part.kind, part.text) for part in changed("Quote all paths.", "Quote most paths.")] == [
        ("same", "Quote "),
        ("gone", "all"),
        ("new", "most"),
        ("same", " paths."),
    ]


def test_long_texts_are_compared_line_by_line_without_keeping_anybody_waiting() -> None:
    lines = [f"line {n} of a long page\n" for n in range(800)]
    parts = changed("".join(lines), "".join([*lines[:400], "another\n", *lines[401:]]))

    assert [part.text for part in parts if part.kind == "new"] == ["another\n"]


def test_a_sign_is_marked_where_it_stands_whatever_its_case_and_spaces() -> None:
    found = read_findings(["override.instructions in content: ignore previous instructions"])

    assert found == [Found("override.instructions", "content", "ignore previous instructions")]
    assert [
        part for part in marked("content", "Now IGNORE\n previous  instructions!", found) if part.kind == "mark"
    ] == [("mark", "IGNORE\n previous  instructions")]
    assert [part.kind for part in marked("title", "ignore previous instructions", found)] == ["same"]


@given(st.text(alphabet="abc <", max_size=40), st.lists(st.text(alphabet="abc", min_size=1, max_size=5), max_size=4))
def test_marking_keeps_the_text(text: str, excerpts: list[str]) -> None:
    found = [Found("x", "content", excerpt) for excerpt in excerpts]

    assert "".join(part.text for part in marked("content", text, found)) == text


def test_a_finding_in_words_of_its_own_is_shown_as_it_is() -> None:
    assert read_findings(["something else"]) == [Found("something else", "", "")]


@given(st.text(max_size=30).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)))
def test_any_name_is_one_segment_of_an_address_and_comes_back(name: str) -> None:
    assert text_of(segment(name)) == name
    assert all(c.isalnum() or c in "~-_" for c in segment(name))


def test_an_address_leaves_out_what_is_not_asked() -> None:
    assert address("a/b", "lessons", tag="x y", after=None, class_="all") == "/p/a~2Fb/lessons?tag=x+y&class=all"
