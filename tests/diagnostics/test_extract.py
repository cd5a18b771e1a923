"""What is taken out of an output, and what is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.diagnostics import Diagnostic, diagnostics, mentioned, read, written
from reasoningbank.diagnostics.extract import HEAD, MOST, TAIL

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/ada/app/rows.py", line {line}, in load
    return int(text)
ValueError: invalid literal for int() with base 10: '12,5'
"""
LOG = "[12/80] Building src/error_handler.cpp.o\ntests/test_errors.py::test_error PASSED\n0 errors, 3 warnings\n"

LINES = [
    ("src/a.ts(3,5): error TS2322: Type 'string' is not assignable", "TS2322: Type 'string' is not assignable"),
    ("src/a.ts:3:5 - error TS2304: Cannot find name 'x'.", "[tsc #TS2304] Cannot find name 'x'."),
    ("main.c:4:9: error: 'limit' undeclared", "'limit' undeclared"),
    ("main.go:3:2: undefined: parseFlags", "[go] undefined: parseFlags"),
    ("x.py:1:8: F401 [*] `os` imported but unused", "[#F401] 'os' imported but unused"),
    ("  3:10  error  'x' is never used  no-unused-vars", "[eslint #no-unused-vars] 'x' is never used"),
    ("error[E0382]: borrow of moved value: `a`", "[rustc #E0382] borrow of moved value: 'a'"),
    ("/usr/bin/ld: a.o: in function `main': a.c:(.text+0xa): undefined reference to `f'", "[ld] undefined reference"),
    ('npm error Missing script: "build"', '[npm] Missing script: "build"'),
    ("make: *** No rule to make target 'x', needed by 'all'.  Stop.", "[make] No rule to make target 'x', needed by"),
    ("Makefile:3: *** missing separator.  Stop.", "[make] missing separator"),
    (" ! [rejected]        main -> main (fetch first)", "[git] [rejected] main -> main (fetch first)"),
    ("CONFLICT (content): Merge conflict in a", "CONFLICT (content): Merge conflict in a"),
    ("fatal: not a git repository (or any of the parent directories): .git", "not a git repository"),
    ("E       fixture 'db' not found", "[pytest] fixture 'db' not found"),
    ("Exception in thread \"main\" java.lang.NullPointerException: x is null", "java.lang.NullPointerException: x"),
    ("app.errors.QuotaExceeded: 3 of 3", "app.errors.QuotaExceeded: 3 of 3"),
    ("Can't locate JSON/X.pm in @INC at a.pl line 3.", "[perl] Can't locate …/X.pm in @INC"),
    ("run.sh: line 4: terraform: command not found", "[sh] terraform: command not found"),
    ("run.sh: 4: helm: not found", "[sh] helm: not found"),
    ("curl: (7) Failed to connect to 127.0.0.1 port 9 after 3 ms", "[curl #7] Failed to connect to 127.0.0.1 port 9"),
    ("ERROR: No matching distribution found for x==1.0", "No matching distribution found for x==1.0"),
    ("Fehler: Paketquelle nicht gefunden", "Paketquelle nicht gefunden"),
    ("エラー: ファイルがありません", "ファイルがありません"),
    ("Segmentation fault (core dumped)", "Segmentation fault (core dumped)"),
    ("HTTP/1.1 429 Too Many Requests", "HTTP/1.1 429 Too Many Requests"),
    ("2026-03-01T10:00:00Z ERROR: disk is full", "disk is full"),
    ("reader.py: error: the following arguments are required: --x", "the following arguments are required: --x"),
    ("\x1b[31merror\x1b[0m: no such command", "no such command"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_line_says_what_went_wrong_without_where_and_when(line: str, expected: str) -> None:
    assert written(diagnostics(line)[0]).startswith(expected)


@pytest.mark.parametrize(
    "output",
    ["", "\n \n", LOG, "all good", "hint: try again", "warning: unused variable 'x'", "FOO=1\nerror_count = 0"],
)
def test_what_went_well_says_nothing(output: str) -> None:
    assert diagnostics(output) == ()


def test_of_a_traceback_only_what_was_raised_is_taken() -> None:
    (one,) = diagnostics(TRACEBACK.format(line=3))

    assert (one.code, one.message) == ("ValueError", "invalid literal for int() with base 10: '12,5'")


def test_a_message_on_the_next_line_belongs_to_its_heading() -> None:
    (one,) = diagnostics("CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find Eigen9\n")

    assert one.message == "Could not find Eigen9"


def test_a_heading_without_a_message_says_nothing() -> None:
    assert diagnostics("CMake Error:\n    | \n") == ()


def test_what_only_follows_from_something_else_is_left_out_unless_it_is_all_there_is() -> None:
    both = "gcc: error: no input files\nmake: *** [Makefile:2: all] Error 1\n"

    assert [one.message for one in diagnostics(both)] == ["no input files"]
    assert [one.tool for one in diagnostics("make: *** [Makefile:2: all] Error 1\n")] == ["make"]


@pytest.mark.parametrize("output", ["x\nKeyboardInterrupt", "^C", "building\nSIGINT received"])
def test_an_interrupt_is_no_failure(output: str) -> None:
    assert diagnostics(output) == ()
    assert diagnostics("error: no such file", exit_code=130) == ()


def test_the_end_of_a_long_output_is_read() -> None:
    assert diagnostics(LOG * 20_000 + TRACEBACK.format(line=3))[0].code == "ValueError"
    assert diagnostics(TRACEBACK.format(line=3) + LOG * 20_000)[0].code == "ValueError"


def test_sentences_without_a_label_count_only_at_the_end() -> None:
    assert diagnostics("Cannot connect to the broker\n" + LOG * 20) == ()
    assert diagnostics(LOG * 20 + "Cannot connect to the broker\n")[0].message == "Cannot connect to the broker"


def test_of_very_many_the_first_and_the_last_are_kept() -> None:
    found = diagnostics("".join(f"x.c:{n}:1: error: missing thing_{n}x\n" for n in range(200)))

    assert len(found) == MOST
    assert (found[0].message, found[-1].message) == ("missing thing_0x", "missing thing_199x")


def test_of_what_failed_and_no_rule_knows_the_first_and_the_last_sentence_are_kept() -> None:
    output = "The quota of this place is used up\nhint: pay for more\nAsk somebody about it\n--\n"

    assert diagnostics(output) == ()
    assert [one.message for one in diagnostics(output, exit_code=3)] == [
        "The quota of this place is used up",
        "Ask somebody about it",
    ]
    assert diagnostics("--\n", exit_code=3) == ()


def test_a_line_whose_message_is_all_volatile_says_nothing() -> None:
    assert diagnostics("error: 12:30:00") == ()


@given(st.text(max_size=400))
def test_whatever_is_printed_is_read(output: str) -> None:
    for one in diagnostics(output, exit_code=1):
        assert read(written(one)) == (one,) or not one.message


def test_time_grows_no_faster_than_the_length() -> None:
    def seconds(length: int) -> float:
        output = (LOG * (length // len(LOG) + 1))[:length]
        times = []
        for _ in range(3):
            start = time.perf_counter()
            diagnostics(output)
            times.append(time.perf_counter() - start)
        return min(times)

    half = (HEAD + TAIL) // 2
    # Twice the length takes twice as long; four times leaves room for a busy machine, and a square would be over it.
    assert seconds(2 * half) < 4 * seconds(half) + 0.05


@pytest.mark.parametrize(
    "line", ["error: " + "a/" * 5_000, "x" * 10_000, "a: " * 4_000, "'" * 9_000, "E " + "A." * 5_000]
)
def test_no_line_takes_long(line: str) -> None:
    start = time.process_time()
    diagnostics((line + "\n") * 20, exit_code=1)

    assert time.process_time() - start < 2


# -- in what people write -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Install pyyaml. Seen as: ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module"),
        ("When it fails with `fatal: refusing to merge unrelated histories`, allow them.", "refusing to merge"),
        ('It says "error: src refspec main does not match any" then.', "src refspec main does not match any"),
        ("tar: Cowardly refusing to create an empty archive\nGive it files.", "[tar] Cowardly refusing to create"),
    ],
)
def test_a_lesson_names_the_errors_it_answers(text: str, expected: str) -> None:
    assert any(written(one).startswith(expected) for one in mentioned(text))


def test_a_message_is_read_to_the_end_of_its_sentence_too() -> None:
    found = mentioned("Seen with KeyError: 'region'. Then give the region.")

    assert Diagnostic.of("'region'", code="KeyError") in found


@pytest.mark.parametrize("text", ["", "Quote paths: names hold blanks.", "Look at failures first, then at the rest."])
def test_a_lesson_about_no_error_names_none(text: str) -> None:
    assert mentioned(text) == ()


def test_a_page_of_errors_names_the_first_of_them() -> None:
    assert len(mentioned("\n".join(f"error: number x{n}" for n in range(50)))) == 8


# -- as they are stored ---------------------------------------------------------------------------------------------


def test_a_text_stands_for_the_errors_in_it() -> None:
    assert [one.code for one in read(TRACEBACK.format(line=9))] == ["ValueError"]
    assert [one.message for one in read("the quota is gone")] == ["the quota is gone"]
    assert [one.message for one in read("quota is\nused up today")] == ["quota is", "used up today"]
    assert read("  \n") == ()
    assert read("--\n..") == ()
