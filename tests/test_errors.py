from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

from reasoningbank import errors
from reasoningbank.errors import ReasoningBankError

ALL = {
    name: error
    for name, error in vars(errors).items()
    if inspect.isclass(error) and issubclass(error, ReasoningBankError)
}


def test_the_drawing_shows_every_error_in_its_place() -> None:
    drawn: dict[str, str] = {}
    above: list[str] = []
    for row in (errors.__doc__ or "").splitlines():
        found = re.match(r"(?P<lines>[│├└─ ]*)(?P<name>\w+Error)\b(?: \((?P<builtin>\w+)\))?", row)
        if found:
            depth = len(found["lines"]) // 4
            above[depth:] = [found["name"]]
            drawn[found["name"]] = " ".join(
                filter(None, [above[depth - 1] if depth else "Exception", found["builtin"]])
            )

    assert drawn == {name: " ".join(base.__name__ for base in error.__bases__) for name, error in ALL.items()}


@pytest.mark.parametrize("name", ALL)
def test_every_error_says_what_to_do(name: str) -> None:
    assert re.search(r"^    What to do: \w.{20,}", ALL[name].__doc__ or "", re.MULTILINE)


@pytest.mark.parametrize(
    ("error", "words", "facts"),
    [
        (errors.LimitExceededError("title", limit=200, actual=2000), "title has 2,000 .* limit is 200", {"limit": 200}),
        (errors.MemoryNotFoundError("m-1"), "no memory 'm-1'", {"memory_id": "m-1"}),
        (errors.EpisodeNotFoundError("ref 'e-1'"), "no episode for ref 'e-1'", {"what": "ref 'e-1'"}),
        (errors.JobNotFoundError("j-1"), "no job 'j-1'", {"job_id": "j-1"}),
        (
            errors.ProjectNotFoundError("web", "acme"),
            "'acme' has no project 'web'",
            {"project": "web", "tenant": "acme"},
        ),
        (errors.BusyError("busy", path=Path("bank")), "^busy$", {"path": Path("bank")}),
        (
            errors.MissingExtraError("Milvus", "milvus"),
            r"pip install 'reasoningbank-core\[milvus\]'",
            {"extra": "milvus"},
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_says_what_happened_and_carries_its_facts(
    error: ReasoningBankError, words: str, facts: dict[str, object]
) -> None:
    assert re.search(words, str(error))
    assert {name: getattr(error, name) for name in facts} == facts


def test_where_secrets_cannot_be_looked_for_an_error_says_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reasoningbank.screening.door", None)

    said = str(errors.InvalidInputError("https://user:hunter2@host refuses"))

    assert "hunter2" not in said
    assert said.startswith("InvalidInputError (what it says is withheld")


def test_a_library_that_cannot_be_loaded_is_an_import_error_with_its_remedy() -> None:
    missing = errors.MissingLibraryError(ImportError("libgomp.so.1: cannot open shared object file"))

    assert isinstance(missing, ImportError)
    assert "libgomp.so.1" in str(missing)
    assert "pip install --force-reinstall reasoningbank-core" in str(missing)
