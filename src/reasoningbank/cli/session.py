"""What every command shares: its scope, its bank, and its way to answer."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

import typer
from rich.console import Console

from reasoningbank import BankRoot, ProjectNotFoundError, ReasoningBank, ReasoningBankError, Tenants
from reasoningbank.cli.arguments import FILTERS, UsageError, filters_of, pairs
from reasoningbank.cli.help import Command
from reasoningbank.cli.scope import Scope, chosen, needed, not_there
from reasoningbank.cli.streams import forgiving_a_closed_pipe, json_line
from reasoningbank.cli.terminal import console_of, sentence
from reasoningbank.config import ENVIRONMENT, environment

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

# Seconds after which somebody who watches wants to see that something is done.
MOMENT = 1.0
Kind: TypeAlias = Literal["memory", "run", "node", "edge", "job"]
PROJECT_SCOPE = ("root", "tenant", "project", "embedder", "shared", "person")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says.

    Attributes:
        value: for programs: printed as one JSON object with --json.
        view: for people: prints the value to a console, or is a sentence; None prints nothing.
        exit_code: 1 when part of what was asked for could not be done.
    """

    value: Any
    view: Callable[[Console, Any], None] | str | None = None
    exit_code: int = 0


class Session:
    """One run of a command.

    Args:
        scope: what was chosen, by name.
        as_json: answer with one JSON object.
        plain: answer as into a pipe.
        begins: the command may begin a new project; any other needs one that is there.
        settings: NAME=VALUE pairs; they win over those of the environment.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        as_json: bool = False,
        plain: bool = False,
        begins: bool = False,
        settings: Sequence[str] = (),
    ) -> None:
        self.scope, self.as_json, self._plain, self._begins = scope, as_json, plain, begins
        self._settings = settings
        self.stdout = sys.stdout
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        # What a dependency prints is no part of the answer.
        self._closing.enter_context(contextlib.redirect_stdout(sys.stderr))
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @functools.cached_property
    def bank(self) -> ReasoningBank:
        """The bank that was asked for; ProjectNotFoundError when it is not there, and the command begins none."""
        bank = self.unchecked_bank
        if not (self._begins or bank.exists or bank.shared):
            raise ProjectNotFoundError(bank.project, bank.tenant, not_there(bank))
        return bank

    @functools.cached_property
    def unchecked_bank(self) -> ReasoningBank:
        """The bank that was asked for, whether it is there and whole or not."""
        tenant = self.tenant
        there = [] if "project" in self.scope else BankRoot(self.root, tenant=tenant).projects()
        project = needed(self.scope, "project", there, f"tenant {tenant!r}")
        bank = ReasoningBank(
            self.root,
            tenant=tenant,
            project=project,
            embedder=self.embedder,
            settings=self.settings,
            shared=self.shared,
            person=self.scope["person"].value if "person" in self.scope else None,
        )
        return self._closing.enter_context(bank)

    @property
    def shared(self) -> tuple[str, ...]:
        """The shared banks that were asked for, the nearest first."""
        said = self.scope["shared"].value if "shared" in self.scope else ""
        return tuple(name.strip() for name in said.split(",") if name.strip())

    def looking_through(self, name: str) -> ReasoningBank:
        """Return the bank that was asked for, which looks through a shared bank that the command names, too."""
        shared = self.shared if name in self.shared else (*self.shared, name)
        return self.unchecked_bank.with_shared(shared)

    def id_of(self, given: str, kind: Kind = "memory") -> str:
        """Return the id of a memory (or of another kind) that was given whole or by its beginning."""
        return self.bank.resolve(given, kind)

    @functools.cached_property
    def banks(self) -> BankRoot:
        """The tenant's projects."""
        banks = BankRoot(self.root, tenant=self.tenant, embedder=self.embedder, settings=self.settings)
        return self._closing.enter_context(banks)

    @functools.cached_property
    def tenants(self) -> Tenants:
        """All that is under the root."""
        return self._closing.enter_context(Tenants(self.root, embedder=self.embedder, settings=self.settings))

    def fleet(self, *, every: bool, every_tenant: bool) -> BankRoot | Tenants | None:
        """All projects of every tenant, or of the one that was asked for; None where one project was."""
        return self.tenants if every_tenant else self.banks if every else None

    @property
    def tenant(self) -> str:
        """The tenant that was asked for, or the only one there is."""
        there = [] if "tenant" in self.scope else self.tenants.names()
        return needed(self.scope, "tenant", there, str(self.tenants.root))

    @property
    def embedder(self) -> str | None:
        """The name of the embedder, if one was chosen."""
        return self.scope["embedder"].value if "embedder" in self.scope else None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        said = environment().get("settings", "")
        return pairs([pair.strip() for pair in said.split(",") if pair.strip()]) | pairs(self._settings)

    @property
    def root(self) -> str | None:
        """The folder that was asked for, if one was."""
        return self.scope["root"].value if "root" in self.scope else None

    @property
    def is_interactive(self) -> bool:
        """Whether somebody sits at a terminal, and can be asked."""
        return sys.stdin is not None and sys.stdin.isatty() and self.stdout.isatty() and not self.as_json

    @functools.cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        return console_of(self.stdout, plain=self._plain)

    def answer(self, answer: Answer) -> None:
        """Print the answer."""
        if self.as_json:
            self.stdout.write(json_line(answer.value) + "\n")
        elif isinstance(answer.view, str):
            sentence(self.console, answer.view)
        elif answer.view is not None:
            answer.view(self.console, answer.value)
        self.stdout.flush()

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int | None], None]]:
        """Show a bar with the time left on standard error, when that is a terminal; give what moves it."""
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        bar = _bar(MofNCompleteColumn(), TimeRemainingColumn())
        if not bar.console.is_terminal:
            yield lambda _done, _total: None
            return
        with bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    @contextlib.contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show on standard error, when that is a terminal, what takes longer than a moment, and for how long by now."""
        from rich.progress import TimeElapsedColumn

        bar = _bar(TimeElapsedColumn())
        if not bar.console.is_terminal:
            yield
            return
        bar.add_task(what, total=None)
        later = threading.Timer(MOMENT, bar.start)
        later.start()
        try:
            yield
        finally:
            later.cancel()
            later.join()
            if bar.live.is_started:
                bar.stop()


def _bar(*columns: ProgressColumn) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"), BarColumn(), *columns, console=Console(stderr=True), transient=True
    )


# -- commands ------------------------------------------------------------------------------------------------------


def _project_names(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of one of the tenant's projects."""
    with contextlib.suppress(ReasoningBankError, UsageError):
        scope = chosen({name: context.params.get(name) for name in ("root", "tenant")})
        with Session(scope) as session:
            return [name for name in session.banks.projects() if name.startswith(incomplete)]
    return []


def _option(name: str, kind: Any, *flags: str, default: bool | None = None, **more: Any) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(*flags, show_default=False, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _scope_option(name: str, *flags: str, text: str, **more: Any) -> inspect.Parameter:
    help_text = f"{text} Else: {ENVIRONMENT[name]}, or the scope file."
    return _option(name, str | None, f"--{name}", *flags, help=help_text, rich_help_panel="Which bank", **more)


OPTIONS = {
    "root": _scope_option("root", text="Folder that holds the data; the user's data folder when not given."),
    "tenant": _scope_option("tenant", "-t", text="Whose data."),
    "project": _scope_option("project", "-p", text="Which project's data.", autocompletion=_project_names),
    "embedder": _scope_option(
        "embedder", text="minilm, hash, openai:MODEL, or a fastembed model; the project's own when none is named."
    ),
    "shared": _scope_option(
        "shared",
        metavar="BANK,...",
        text="Shared banks that are looked through, too, the nearest first, with commas between.",
    ),
    "person": _scope_option("person", text="Who acts, where shared banks give rights to people."),
}
SETTINGS = _option(
    "settings",
    list[str] | None,
    "--set",
    metavar="NAME=VALUE",
    help=f"A setting for this command; may be repeated. Beside those of {ENVIRONMENT['settings']}.",
    rich_help_panel="Which bank",
)
JSON = _option("as_json", bool, "--json", default=False, help="Answer with one JSON object.", rich_help_panel="Answer")
PLAIN = _option(
    "plain",
    bool,
    "--plain",
    default=False,
    help="Answer as into a pipe: no colours, nothing wrapped or cut.",
    rich_help_panel="Answer",
)


def command(
    app: typer.Typer,
    name: str,
    *,
    scope: Sequence[str] = PROJECT_SCOPE,
    with_json: bool = True,
    begins: bool = False,
    filtered: bool = False,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Register a function as a command: it gets a session, and the options of its scope beside its own.

    Args:
        begins: it may begin a new project; without it, one that is not there is an error.
        filtered: it takes the options of filters, and gets what they ask for behind the session.
    """
    filters = [
        _option(each, kind, *flags, rich_help_panel="Which memories", **more)
        for each, (kind, flags, more) in (FILTERS if filtered else {}).items()
    ]

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        own = [*inspect.signature(function, eval_str=True).parameters.values()][1 + filtered :]

        def run(**given: Any) -> None:
            options = {option: given.pop(option) for option in scope}
            shown = {name: given.pop(name, False) for name in ("as_json", "plain")}
            settings = given.pop("settings", None) or ()
            asked = {each.name: given.pop(each.name) for each in filters}
            code = 0
            try:
                opened = Session(chosen(options), **shown, begins=begins, settings=settings)
                with forgiving_a_closed_pipe(), opened as session:
                    answer = function(session, *([filters_of(asked)] if filtered else ()), **given)
                    code = answer.exit_code
                    session.answer(answer)
            except KeyboardInterrupt:
                # Typer would end the process without a word.
                raise typer.Abort from None
            if code:
                raise typer.Exit(code)

        shared = [OPTIONS[option] for option in scope] + ([SETTINGS] if "embedder" in scope else [])
        parameters = [*own, *filters, *shared, *([JSON, PLAIN] if with_json else [])]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__doc__ = function.__doc__
        app.command(name, cls=Command)(run)
        return function

    return register
