"""Write docs/reference from the code: `python -m tools.reference`, or `make docs`.

A docstring's sections (Args, Attributes, Returns, Raises, ...) become lists; everything else is taken as it stands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from typing import Any, get_type_hints, is_typeddict

from pydantic import BaseModel

import reasoningbank
from reasoningbank import bank, config, errors
from tools.cli_reference import cli_page
from tools.domain import ROOT
from tools.doors import doors_page

FOLDER = ROOT / "docs/reference"
PARTS = ("graph", "links", "queue", "sources", "runs", "exchange", "upkeep", "sharing")
MODULES = ("adapters", "distill", "exchange", "graph", "links", "llm", "prompt", "runs", "sharing", "upkeep")
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Source|Example|Examples):(.*)$")
ENTRY = re.compile(r"^(\*{0,2}\w[\w., ]*): (.+)$")
MADE = "<!-- Made from the code by `make docs`: change the docstrings, not this page. -->"


def markdown(docstring: str) -> str:
    """Turn a docstring into Markdown: each section gets a bold title, each of its entries a list item."""
    lines: list[str] = []
    inside = False
    for line in inspect.cleandoc(docstring).splitlines():
        section = SECTION.match(line)
        if section:
            inside = True
            lines += [f"**{section[1]}:**{section[2]}", ""]
        elif inside and line.startswith("    ") and not line.startswith("     "):
            lines.append(_item(line.strip()))
        else:
            inside = inside and line.startswith(" ")
            lines.append(f"  {line.strip()}" if inside else line)
    return "\n".join(lines).strip()


def _item(text: str) -> str:
    entry = ENTRY.match(text)
    return f"- `{entry[1]}`: {entry[2]}" if entry else f"- {text}"


def _parameters(thing: Callable[..., Any]) -> Iterator[str]:
    """Yield a callable's parameters as they are written, without `self`, with the stars between them."""
    if inspect.isclass(thing) and issubclass(thing, BaseModel):
        yield from ("*", *(_field(thing, name) for name in thing.model_fields))
        return
    before = 0
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and before < parameter.VAR_POSITIONAL:
            yield "*"
        before = int(parameter.kind)
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
        yield f"{stars}{parameter.name}" + _typed(parameter.annotation, parameter.default)


def _field(model: type[BaseModel], name: str) -> str:
    owner = next(cls for cls in model.__mro__ if name in inspect.get_annotations(cls))
    field = model.model_fields[name]
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return name + _typed(inspect.get_annotations(owner)[name], default)


def _typed(annotation: object, default: object) -> str:
    typed = "" if annotation is inspect.Parameter.empty else f": {_type_name(annotation)}"
    if default is inspect.Parameter.empty:
        return typed
    if isinstance(default, Enum):
        return f"{typed} = {type(default).__name__}.{default.name}"
    shown = repr(default)
    return f"{typed} = {'…' if shown.startswith('<') else shown}"


def _signature(name: str, thing: Callable[..., Any]) -> str:
    """Return a callable's signature as code, one parameter a line where it would be long."""
    parameters = list(_parameters(thing))
    returned = inspect.signature(thing).return_annotation
    tail = "" if inspect.isclass(thing) or returned is inspect.Signature.empty else f" -> {_type_name(returned)}"
    short = f"{name}({', '.join(parameters)}){tail}"
    return short if len(short) <= 100 else f"{name}(\n    " + ",\n    ".join(parameters) + f",\n){tail}"


def _public_methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the documented public methods that the library itself defines, in the order of their definition."""
    for name in dict.fromkeys(name for owner in cls.__mro__ for name in vars(owner)):
        member = None if name.startswith("_") else getattr(cls, name, None)
        if isinstance(member, property) or not callable(member):
            continue
        if str(getattr(member, "__module__", "")).startswith("reasoningbank") and member.__doc__:
            yield name, member


def api_page() -> str:
    """Return the page of the bank, of its parts, and of every other name in `reasoningbank` that is no error."""
    parts = [MADE, "# Python", markdown(reasoningbank.__doc__ or ""), "## `ReasoningBank`"]
    parts += _described("ReasoningBank", reasoningbank.ReasoningBank)
    for name in PARTS:
        of_bank = f"bank.{name}"
        parts += [f"## `{of_bank}`", *_described(of_bank, getattr(bank, name.title()))]
    for name in reasoningbank.__all__:
        thing = getattr(reasoningbank, name)
        if name != "ReasoningBank" and not _is_error(thing):
            parts += [f"## `{name}`", *_described(name, thing)]
    return "\n\n".join(filter(None, parts)) + "\n"


def modules_page() -> str:
    """Return the page of what is imported from the public modules beside `reasoningbank`."""
    parts = [MADE, "# Python, module by module", "What is not imported from `reasoningbank` itself."]
    for name in MODULES:
        module = import_module(f"reasoningbank.{name}")
        parts += [f"## `{module.__name__}`", markdown(module.__doc__ or "")]
        own = [public for public in module.__all__ if public not in reasoningbank.__all__]
        if also := [f"`{public}`" for public in module.__all__ if public not in own]:
            parts.append(f"In `reasoningbank` too: {', '.join(also)}.")
        for public in own:
            parts += [f"### `{public}`", *_described(public, getattr(module, public), heading="####")]
    return "\n\n".join(filter(None, parts)) + "\n"


def _is_error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, errors.ReasoningBankError)


def _described(name: str, thing: Any, *, heading: str = "###") -> Iterator[str]:
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        yield f"```python\n{name} = {_type_name(thing) if callable(thing) else repr(thing)}\n```"
        return
    if is_typeddict(thing):
        fields = ",\n    ".join(f"{field}: {_type_name(kind)}" for field, kind in get_type_hints(thing).items())
        yield f"```python\n{name}(\n    {fields},\n)\n```"
        yield markdown(thing.__doc__ or "")
        return
    if inspect.isclass(thing) and issubclass(thing, Enum):
        yield markdown(thing.__doc__ or "")
        yield "\n".join(f"- `{name}.{member.name}` = `{member.value!r}`" for member in thing)
        return
    if not name.startswith("bank."):
        yield f"```python\n{_signature(name, thing)}\n```"
    yield markdown(thing.__doc__ or "")
    methods = dict(_public_methods(thing)) if inspect.isclass(thing) else {}
    if name.startswith("Async"):
        names = ", ".join(f"`{method}`" for method in methods)
        yield f"Its methods are those of `{name.removeprefix('Async')}`, awaited: {names}."
        return
    for method, function in methods.items():
        yield f"{heading} `{name}.{method}`"
        yield f"```python\n{_signature(method, function)}\n```"
        yield markdown(function.__doc__ or "")


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
        f"| `{name}` | `{_type_name(field.annotation)}` | `{field.default!r}` | {_limits(field.metadata)} |"
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


def _type_name(annotation: object) -> str:
    if isinstance(annotation, type):
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("builtins.", "").strip("'")


def _limits(metadata: list[object]) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    return ", ".join(f"{signs[k]} {getattr(m, k):g}" for m in metadata for k in signs if hasattr(m, k))


PAGES: dict[str, Callable[[], str]] = {
    "api.md": api_page,
    "modules.md": modules_page,
    "cli.md": lambda: cli_page(MADE),
    "doors.md": lambda: doors_page(MADE),
    "errors.md": errors_page,
    "settings.md": settings_page,
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), "utf-8")
