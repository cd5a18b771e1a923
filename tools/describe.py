"""How docs/reference shows a thing of the code: its signature as it is written, its docstring as Markdown.

A docstring's sections (Args, Attributes, Returns, Raises, ...) become lists; everything else is taken as it stands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, get_type_hints, is_typeddict

from pydantic import BaseModel

SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Source|Example|Examples):(.*)$")
ENTRY = re.compile(r"^(\*{0,2}\w[\w., ]*): (.+)$")
# Whose methods are shown; what a class inherits from its framework is the framework's to describe.
THEIRS = ("langchain_core", "llama_index.core", "llama_index_instrumentation")
OURS = ("reasoningbank", "langchain_reasoningbank", "langgraph_reasoningbank", "llama_index.memory.reasoningbank")


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
        yield from ("*", *(_field(thing, name) for name in thing.model_fields if not _is_theirs(_owner(thing, name))))
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


def _owner(model: type[BaseModel], name: str) -> type:
    return next(cls for cls in model.__mro__ if name in inspect.get_annotations(cls))


def _is_theirs(owner: type) -> bool:
    return owner.__module__.startswith(THEIRS)


def _is_ours(thing: object) -> bool:
    return str(getattr(thing, "__module__", "")).startswith(OURS)


def _field(model: type[BaseModel], name: str) -> str:
    owner = _owner(model, name)
    field = model.model_fields[name]
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return name + _typed(inspect.get_annotations(owner)[name], default)


def _typed(annotation: object, default: object) -> str:
    typed = "" if annotation is inspect.Parameter.empty else f": {type_name(annotation)}"
    if default is inspect.Parameter.empty:
        return typed
    if isinstance(default, Enum):
        return f"{typed} = {type(default).__name__}.{default.name}"
    shown = repr(default)
    return f"{typed} = {'…' if shown.startswith('<') else shown}"


def signature(name: str, thing: Callable[..., Any]) -> str:
    """Return a callable's signature as code, one parameter a line where it would be long."""
    parameters = list(_parameters(thing))
    returned = inspect.signature(thing).return_annotation
    tail = "" if inspect.isclass(thing) or returned is inspect.Signature.empty else f" -> {type_name(returned)}"
    short = f"{name}({', '.join(parameters)}){tail}"
    return short if len(short) <= 100 else f"{name}(\n    " + ",\n    ".join(parameters) + f",\n){tail}"


def _public_methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the documented public methods that the library itself defines, in the order of their definition."""
    for name in dict.fromkeys(name for owner in cls.__mro__ for name in vars(owner)):
        member = None if name.startswith("_") else getattr(cls, name, None)
        if isinstance(member, property) or inspect.isclass(member) or not callable(member):
            continue
        if _is_ours(member) and member.__doc__:
            yield name, member


def described(name: str, thing: Any, *, heading: str = "###") -> Iterator[str]:
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        yield f"```python\n{name} = {type_name(thing) if callable(thing) else repr(thing)}\n```"
        return
    if is_typeddict(thing):
        fields = ",\n    ".join(f"{field}: {type_name(kind)}" for field, kind in get_type_hints(thing).items())
        yield f"```python\n{name}(\n    {fields},\n)\n```"
        yield markdown(thing.__doc__ or "")
        return
    if inspect.isclass(thing) and issubclass(thing, Enum):
        yield markdown(thing.__doc__ or "")
        yield "\n".join(f"- `{name}.{member.name}` = `{member.value!r}`" for member in thing)
        return
    if not name.startswith("bank."):
        yield f"```python\n{signature(name, thing)}\n```"
    yield markdown(thing.__doc__ or "")
    methods = dict(_public_methods(thing)) if inspect.isclass(thing) else {}
    if name.startswith("Async"):
        names = ", ".join(f"`{method}`" for method in methods)
        yield f"Its methods are those of `{name.removeprefix('Async')}`, awaited: {names}."
        return
    for method, function in methods.items():
        yield f"{heading} `{name}.{method}`"
        yield f"```python\n{signature(method, function)}\n```"
        yield markdown(function.__doc__ or "")


def type_name(annotation: object) -> str:
    if isinstance(annotation, type):
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("builtins.", "").strip("'")
