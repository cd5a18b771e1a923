"""Write docs/reference from the code: `python -m tools.reference`, or `make docs`. One page for each area."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType

import reasoningbank
from reasoningbank import bank, config, errors
from tools.cli_reference import cli_pages
from tools.describe import described, markdown, type_name
from tools.domain import ROOT
from tools.doors import doors_page
from tools.formats_reference import format_pages

FOLDER = ROOT / "docs/reference"
PARTS = ("graph", "links", "queue", "sources", "runs", "exchange", "replication", "upkeep", "sharing")
MODULES = (
    *("adapters", "bus", "distill", "exchange", "graph", "links", "llm", "prompt", "replication", "runs", "sharing"),
    "upkeep",
)
FRAMEWORKS = {
    "langchain": "langchain_reasoningbank",
    "langgraph": "langgraph_reasoningbank",
    "llama-index": "llama_index.memory.reasoningbank",
}
# The bank and what opens or runs in one; every other name in `reasoningbank` is what its calls take and return.
HANDLES = ("ReasoningBank", "BankRoot", "Tenants", "Run", "AsyncReasoningBank", "AsyncRun")
MADE = "<!-- Made from the code by `make docs`: change the docstrings, not this page. -->"


def page_of(*parts: str) -> str:
    """Return a page of its parts, without the empty ones."""
    return "\n\n".join(filter(None, (MADE, *parts))) + "\n"


def bank_page() -> str:
    """Return the page of the bank and of what opens it."""
    parts = ["# The bank, in Python", markdown(reasoningbank.__doc__ or "")]
    for name in HANDLES:
        parts += [f"## `{name}`", *described(name, getattr(reasoningbank, name))]
    return page_of(*parts)


def results_page() -> str:
    """Return the page of every other name in `reasoningbank` that is no error."""
    parts = ["# What calls take and return", "All of it is imported from `reasoningbank`."]
    for name in reasoningbank.__all__:
        thing = getattr(reasoningbank, name)
        if name not in HANDLES and not _is_error(thing):
            parts += [f"## `{name}`", *described(name, thing)]
    return page_of(*parts)


def area_page(name: str) -> str:
    """Return the page of a part of the bank, of a public module, or of both where they have one name."""
    parts = [f"# `bank.{name}`" if name in PARTS else f"# `reasoningbank.{name}`"]
    if name in PARTS:
        parts += described(f"bank.{name}", getattr(bank, name.title()))
    if name in MODULES:
        parts += _module(import_module(f"reasoningbank.{name}"), titled=name in PARTS)
    return page_of(*parts)


def _module(module: ModuleType, *, titled: bool) -> Iterator[str]:
    name: str = module.__name__
    public: list[str] = module.__all__
    if titled:
        yield f"## What `{name}` has"
    yield markdown(module.__doc__ or "")
    own = [one for one in public if one not in reasoningbank.__all__]
    if also := [f"`{one}`" for one in public if one not in own]:
        yield f"In `reasoningbank` too: {', '.join(also)}."
    for one in own:
        yield from (f"### `{one}`", *described(one, getattr(module, one), heading="####"))


def framework_page(name: str) -> str:
    """Return the page of a framework's package."""
    module = import_module(FRAMEWORKS[name])
    return page_of(f"# `{module.__name__}`", *_module(module, titled=False))


def _is_error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, errors.ReasoningBankError)


def errors_page() -> str:
    """Return the page of the error tree, and of each error."""
    tree = (errors.__doc__ or "").strip()
    title, _, drawing = tree.partition("\n\n")
    parts = [MADE, "# Errors", title, f"```text\n{drawing}\n```"]
    for name, error in vars(errors).items():
        if _is_error(error):
            parts += [f"## `{name}`", markdown(error.__doc__ or "")]
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """Return the page of the settings and the environment variables."""
    rows = [
        f"| `{name}` | `{type_name(field.annotation)}` | `{field.default!r}` | {_limits(field.metadata)} |"
        for name, field in config.Settings.model_fields.items()
    ]
    variables = [f"| `{variable}` | {meaning} |" for meaning, variable in config.ENVIRONMENT.items()]
    parts = [
        MADE,
        "# Settings",
        markdown(config.Settings.__doc__ or ""),
        "\n".join(["| setting | type | default | allowed |", "|---|---|---|---|", *rows]),
        "Given as `settings=Settings(…)` or as a dictionary; an unknown key is an error that names the nearest one.",
        "## Environment",
        "Read by the command line and the servers only; in Python, the scope is always an argument.",
        "\n".join(["| variable | stands for |", "|---|---|", *variables]),
        "Settings stand in it as pairs: `auto_prune=true,max_memories=5000`. For one command, `--set NAME=VALUE` does "
        "the same, and wins.",
    ]
    return "\n\n".join(parts) + "\n"


def _limits(metadata: list[object]) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    return ", ".join(f"{signs[k]} {getattr(m, k):g}" for m in metadata for k in signs if hasattr(m, k))


PAGES: dict[str, Callable[[], str]] = {
    "python/bank.md": bank_page,
    "python/results.md": results_page,
    **{f"python/{name}.md": partial(area_page, name) for name in sorted({*PARTS, *MODULES})},
    **{f"frameworks/{name}.md": partial(framework_page, name) for name in FRAMEWORKS},
    **cli_pages(MADE),
    **format_pages(MADE),
    "doors.md": lambda: doors_page(MADE),
    "errors.md": errors_page,
    "settings.md": settings_page,
}


if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / file).write_text(page(), "utf-8")
