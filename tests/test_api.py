"""The public surface: what users may rely on."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import reasoningbank
from reasoningbank import AsyncReasoningBank, ReasoningBank, ReasoningBankError

HEAVY = ("numpy", "faiss", "onnxruntime", "fastembed", "langchain", "langgraph", "llama_index", "openai", "torch")


def public(kind: type) -> set[str]:
    return {name for name, value in inspect.getmembers(kind) if not name.startswith("_") and callable(value)}


def test_all_is_sorted_and_whole() -> None:
    names = reasoningbank.__all__

    # Constants, then classes, then functions, each in order: as the linter sorts them.
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
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


def test_every_error_raised_on_purpose_is_exported() -> None:
    def leaves(kind: type[ReasoningBankError]) -> set[str]:
        return {kind.__name__} | {name for sub in kind.__subclasses__() for name in leaves(sub)}

    from reasoningbank import errors

    defined = {n for n, v in vars(errors).items() if inspect.isclass(v) and issubclass(v, ReasoningBankError)}
    assert defined <= set(reasoningbank.__all__)
    assert defined <= leaves(ReasoningBankError)


def test_the_import_loads_nothing_heavy() -> None:
    code = f"import sys, reasoningbank; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_the_async_facade_has_every_call_of_the_bank_with_the_same_signature() -> None:
    attributes = {"tenant", "project", "root", "settings"}
    calls = public(ReasoningBank) - attributes - {"worker"}

    assert calls <= public(AsyncReasoningBank)
    for name in calls - {"episode"}:
        ours = inspect.signature(getattr(AsyncReasoningBank, name))
        theirs = inspect.signature(getattr(ReasoningBank, name))
        assert ours == theirs, name


def test_async_calls_are_coroutines() -> None:
    calls = public(AsyncReasoningBank) - {"episode"}

    assert all(inspect.iscoroutinefunction(getattr(AsyncReasoningBank, name)) for name in calls)
