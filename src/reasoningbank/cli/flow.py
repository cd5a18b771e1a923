"""Commands memory ...: claude-flow's five commands on a bank, for people who come from there.

Their namespace is a project here, and `default` unless it is given; their key is a lesson's title.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from reasoningbank import Memory, ReasoningBank
from reasoningbank.cli import views
from reasoningbank.cli.arguments import Words, text_of
from reasoningbank.cli.session import Answer, Session, command

PANEL = "For those who come from elsewhere"
SCOPE = ("root", "tenant", "embedder")

Namespace = Annotated[str, typer.Option("--namespace", "--ns", "-n", help="The project.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The lesson's title, to the letter.")]


def _under(bank: ReasoningBank, key: str) -> Iterator[Memory]:
    """Yield the memories whose title is exactly this."""
    after = None
    while True:
        page = bank.list(text=key, state=None, after=after, limit=1000)
        yield from (memory for memory in page.memories if memory.title == key.strip())
        after = page.next
        if after is None:
            return


def store(
    session: Session,
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What to do; - reads standard input.")],
    *,
    namespace: Namespace = "default",
) -> Answer:
    """Store a value under a key; a value that is there already is replaced."""
    bank, content = session.banks.open(namespace), text_of([value])
    known = next(_under(bank, key), None) if bank.status().exists else None
    memory = (
        bank.record(key, content, outcome="success").memory if known is None else bank.update(known.id, content=content)
    )
    return Answer(memory, lambda console: views.sentence(console, f"Stored {memory.title} in {namespace}: {memory.id}"))


def query(
    session: Session,
    text: Words,
    *,
    namespace: Namespace = "default",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at the most.")] = 10,
) -> Answer:
    """Find what fits. Changes and counts nothing."""
    result = session.banks.open(namespace).search(text_of(text), limit)
    return Answer(result, lambda console: views.search_result(console, result))


def list_entries(
    session: Session,
    *,
    namespace: Namespace = "default",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at the most.")] = 100,
) -> Answer:
    """List what a namespace holds."""
    page = session.banks.open(namespace).list(limit=limit)
    return Answer(page, lambda console: views.page(console, page))


def delete(session: Session, key: Key, *, namespace: Namespace = "default") -> Answer:
    """Delete what is stored under a key, for good. Exit code 1 when nothing is."""
    bank = session.banks.open(namespace)
    ids = [memory.id for memory in _under(bank, key)]
    bank.delete_many(ids)
    said = f"Deleted {key} from {namespace}." if ids else f"Nothing is stored under {key} in {namespace}."
    return Answer({"deleted": ids}, lambda console: views.sentence(console, said), exit_code=0 if ids else 1)


def status(session: Session, *, namespace: Namespace = "default") -> Answer:
    """Say where a namespace is and what is in it. Changes nothing."""
    found = session.banks.open(namespace).status()
    return Answer(found, lambda console: views.status(console, found, session.scope))


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(
        help="The commands of claude-flow: a namespace is a project, a key is a title.", no_args_is_help=True
    )
    for name, function in (
        ("store", store),
        ("query", query),
        ("list", list_entries),
        ("delete", delete),
        ("status", status),
    ):
        command(group, name, scope=SCOPE)(function)
    app.add_typer(group, name="memory", rich_help_panel=PANEL)
