"""The public surface: what users may rely on."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import reasoningbank
from reasoningbank import AsyncReasoningBank, ReasoningBank, ReasoningBankError
from reasoningbank.bank.handle import RecallOptions
from reasoningbank.filters import FilterOptions
from reasoningbank.runs import MemoryRuns
from tools.reference import MODULES, PARTS

HEAVY = ("numpy", "faiss", "onnxruntime", "fastembed", "langchain", "langgraph", "llama_index", "openai", "torch")


def in_order(name: str) -> tuple[bool, bool, str]:
    """Constants, then classes, then functions, each in order: as the linter sorts them."""
    return not name.isupper(), not name[0].isupper(), name


def public(kind: type) -> set[str]:
    return {name for name, value in inspect.getmembers(kind) if not name.startswith("_") and callable(value)}


def test_all_is_sorted_and_whole() -> None:
    names = reasoningbank.__all__

    assert names == sorted(names, key=in_order)
    assert all(hasattr(reasoningbank, name) for name in names)
    exported = {name for name, value in vars(reasoningbank).items() if inspect.isclass(value)}
    assert exported <= set(names)


def test_what_is_loaded_later_is_there_when_asked_for_and_what_is_not_there_says_so() -> None:
    code = (
        "import sys, reasoningbank as rb\n"
        "before = 'reasoningbank.distill.distiller' in sys.modules\n"
        "rb.LLMDistiller\n"
        "print(before, hasattr(rb, 'LLMDistillery'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="no attribute 'LLMDistillery'"):
        reasoningbank.LLMDistillery  # type: ignore[attr-defined]  # noqa: B018


def test_what_is_imported_from_the_top_fits_on_a_page() -> None:
    assert len(reasoningbank.__all__) <= 70


@pytest.mark.parametrize("name", MODULES)
def test_the_names_of_a_public_module_are_sorted_and_there(name: str) -> None:
    module = import_module(f"reasoningbank.{name}")

    assert module.__all__ == sorted(module.__all__, key=in_order)
    assert all(hasattr(module, public) for public in module.__all__)
    assert not hasattr(module, "Nothing")


def test_every_error_raised_on_purpose_is_in_the_module_of_errors() -> None:
    def below(kind: type[ReasoningBankError]) -> set[type[ReasoningBankError]]:
        return {kind} | {each for sub in kind.__subclasses__() for each in below(sub)}

    own = {kind.__module__ for kind in below(ReasoningBankError) if kind.__module__.startswith("reasoningbank")}
    assert own <= {"reasoningbank.errors", "reasoningbank.mcp_server.offer"}


def test_the_import_loads_nothing_heavy() -> None:
    code = f"import sys, reasoningbank; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("part", [None, *PARTS])
def test_the_async_facade_has_every_call_with_the_same_signature(bank: ReasoningBank, part: str | None) -> None:
    behind = ReasoningBank if part is None else type(getattr(bank, part))
    facade = AsyncReasoningBank if part is None else type(getattr(AsyncReasoningBank(bank), part))
    calls = public(behind) - {"worker", "episode"}

    assert calls == public(facade) - {"create", "episode"}
    for name in calls:
        assert inspect.iscoroutinefunction(getattr(facade, name)), name
        assert inspect.signature(getattr(facade, name)) == inspect.signature(getattr(behind, name)), name


def test_an_episode_in_async_code_takes_what_a_recall_takes() -> None:
    ours, theirs = inspect.signature(AsyncReasoningBank.episode), inspect.signature(ReasoningBank.episode)

    assert list(ours.parameters.values()) == list(theirs.parameters.values())


def test_what_is_passed_on_to_a_recall_is_what_it_takes() -> None:
    taken = set(inspect.signature(ReasoningBank.recall).parameters) - {"self", "task", "limit"}

    assert set(RecallOptions.__annotations__) == taken - {"timeout", "fail_open", "filters"} | set(
        FilterOptions.__annotations__
    )


def test_a_part_of_the_bank_reaches_that_bank(bank: ReasoningBank) -> None:
    memory = bank.record("Count lines", "Use wc", outcome="success").memory

    assert bank.upkeep.status().memories == {"active": 1}
    assert bank.runs.of(memory.id) == MemoryRuns()
