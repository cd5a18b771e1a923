"""Commands shared ...: the shared banks of a tenant, who they are open to, their review, and what is worth sharing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Memory
from reasoningbank.cli import views
from reasoningbank.cli.arguments import UsageError, Yes
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import counts, line, sentence, shown
from reasoningbank.sharing import Linked, Member, Promoted, Right, SharedBankFacts, SharedStatus, Suggestion

app = typer.Typer(
    name="shared",
    help="Shared banks: lessons above projects, who reads them, who writes them, and their review.",
    cls=Group,
)

TENANT = ("root", "tenant", "embedder")
BankName = Annotated[str, typer.Argument(metavar="BANK", help="The shared bank's name, such as org or team:payments.")]
Projects = list[str] | None
Names = Annotated[
    list[str] | None, typer.Option("--name", help="What else is specific: a customer, a code name; may be repeated.")
]
ProjectMember = Annotated[str | None, typer.Option("--member", metavar="PROJECT", help="A project.")]
PersonMember = Annotated[str | None, typer.Option("--member-person", metavar="NAME", help="A person.")]


@command(app, "create", scope=TENANT)
def create(
    session: Session,
    bank: BankName,
    *,
    reads: Annotated[Projects, typer.Option("--reads", metavar="PROJECT", help="May recall; may be repeated.")] = None,
    writes: Annotated[
        Projects, typer.Option("--writes", metavar="PROJECT", help="May propose, too; may be repeated.")
    ] = None,
    approves: Annotated[
        Projects, typer.Option("--approves", metavar="PROJECT", help="May let lessons in; may be repeated.")
    ] = None,
    approver: Annotated[
        list[str] | None, typer.Option("--approver", metavar="PERSON", help="Who may let lessons in; may be repeated.")
    ] = None,
    auto: Annotated[bool, typer.Option("--auto", help="`shared suggest --apply` may promote unasked.")] = False,
) -> Answer:
    """Declare a shared bank. Nobody reaches it but those who are named."""
    people = dict.fromkeys(approver or (), Right.APPROVE)
    made = session.banks.shared.create(
        bank, readers=reads or (), writers=writes or (), approvers=approves or (), people=people, auto=auto
    )
    return Answer(made, lambda console, _: _facts(console, [made]))


@command(app, "list", scope=TENANT)
def list_banks(session: Session) -> Answer:
    """List the tenant's shared banks: who may do what, and how much is in them."""
    found = session.banks.shared.list()
    return Answer({"shared": found}, lambda console, _: _facts(console, found))


@command(app, "add", scope=TENANT)
def add(
    session: Session,
    bank: BankName,
    *,
    member: ProjectMember = None,
    member_person: PersonMember = None,
    may: Annotated[Right, typer.Option("--may", help="What it may do; each includes the one before.")] = Right.READ,
) -> Answer:
    """Let a project or a person in, or give other rights to one who is."""
    changed = session.banks.shared.add(bank, project=member, person=member_person, may=may)
    return Answer(changed, lambda console, _: _facts(console, [changed]))


@command(app, "remove", scope=TENANT)
def remove(
    session: Session, bank: BankName, *, member: ProjectMember = None, member_person: PersonMember = None
) -> Answer:
    """Shut a project or a person out, from now on. Exit code 1 when it was no member."""
    done = session.banks.shared.remove(bank, project=member, person=member_person)
    said = f"{member or member_person} is out of {bank}." if done else f"{member or member_person} was not in {bank}."
    return Answer({"removed": done}, said, exit_code=0 if done else 1)


@command(app, "delete", scope=TENANT)
def delete(session: Session, bank: BankName, *, yes: Yes = False) -> Answer:
    """Delete a shared bank with all that is in it, for good."""
    facts = session.banks.shared.get(bank)
    if not (yes or session.is_interactive):
        raise UsageError(f"this deletes {bank} with {sum(facts.memories.values()):,} lessons for good: give --yes")
    if not yes:
        typer.confirm(f"Delete {bank} with {counts(facts.memories)} lessons for good?", abort=True, err=True)
    session.banks.shared.delete(bank)
    return Answer({"deleted": bank}, f"Deleted: {bank}")


@command(app, "suggest", scope=TENANT)
def suggest(
    session: Session,
    bank: BankName,
    *,
    name: Names = None,
    apply: Annotated[bool, typer.Option("--apply", help="Promote them; only where the bank is --auto.")] = False,
) -> Answer:
    """Say which lessons of the projects that may write there are worth sharing."""
    if apply:
        done = session.banks.shared.promote_suggested(bank, names=name or ())
        return Answer({"promoted": done}, _every_promoted)
    found = session.banks.shared.suggest_promotions(bank, names=name or ())
    return Answer({"suggestions": found}, lambda console, _: suggestions(console, found))


@command(app, "review")
def review(
    session: Session,
    bank: BankName,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 100,
) -> Answer:
    """List what waits for a review; who may not approve sees what this project proposed."""
    found = session.looking_through(bank).sharing.review(bank, limit)
    return Answer({"memories": found}, _waiting)


@command(app, "approve")
def approve(session: Session, memory_id: Annotated[str, typer.Argument(metavar="ID", help="The lesson.")]) -> Answer:
    """Let a lesson in that waits for a review."""
    memory = session.bank.sharing.approve(id_of(session, memory_id))
    return Answer(memory, f"Approved in {memory.project}: {memory.title}")


@command(app, "links")
def links(
    session: Session,
    memory_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Only of this lesson.")] = None,
) -> Answer:
    """List the shared lessons that came from this project, and which side was corrected since."""
    found = session.bank.sharing.links(None if memory_id is None else session.id_of(memory_id))
    return Answer({"links": found}, lambda console, _: _links(console, found))


@command(app, "correct")
def correct(
    session: Session,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The shared lesson.")],
    *,
    here: Annotated[bool, typer.Option("--here", help="The other way.")] = False,
) -> Answer:
    """Let a shared lesson say what this project's lesson says that it came from."""
    memory = session.bank.sharing.correct(id_of(session, memory_id), here=here)
    return Answer(memory, f"Corrected in {memory.project}: {memory.title}")


@command(app, "status")
def status(session: Session) -> Answer:
    """Say what this project may do in each shared bank that is looked through."""
    found = session.bank.sharing.status()
    return Answer({"shared": found}, lambda console, _: statuses(console, found))


def id_of(session: Session, given: str) -> str:
    """Return the id of a shared lesson that was given whole or by its beginning."""
    if not session.shared:
        raise UsageError("name the shared bank that the lesson is in: --shared BANK")
    return session.id_of(given)


# -- for people ------------------------------------------------------------------------------------------------------


def _facts(console: Console, banks: Sequence[SharedBankFacts]) -> None:
    for bank in banks:
        more = f"{counts(bank.memories)} lessons" if bank.memories else "no lessons yet"
        line(console, Text.assemble((shown(bank.name), "bold"), "  ", more, "  auto" if bank.auto else ""))
        for member in bank.members:
            sentence(console, f"  {_member(member)}", "dim")
    if not banks:
        sentence(console, "There is no shared bank; `shared create` declares one.")


def _every_promoted(console: Console, answer: Mapping[str, Sequence[Promoted]]) -> None:
    for each in answer["promoted"]:
        promoted(console, each)


def _waiting(console: Console, answer: Mapping[str, Sequence[Memory]]) -> None:
    for each in answer["memories"]:
        views.listed(console, each)
        sentence(console, f"{each.id}  {'; '.join(each.findings)}", "dim")
    if not answer["memories"]:
        sentence(console, "Nothing waits for a review.")


def _member(member: Member) -> str:
    return f"{member.kind} {member.name} may {member.may}"


def promoted(console: Console, done: Promoted) -> None:
    """Print what became of a promotion."""
    if done.memory is None:
        sentence(console, f"Not promoted to {done.bank}: it names what only this project has.")
        for one in done.specific:
            sentence(console, f"  {one}")
        for field, text in done.proposed.items():
            sentence(console, f"  proposed {field}: {text}")
        sentence(console, "Give --title, --content, … with other words, or --anyway.", "dim")
        return
    new = "Promoted" if done.created else "Linked to what is there"
    waits = "; it waits for a review" if done.waits else ""
    sentence(console, f"{new} in {done.bank}: {done.memory.title} ({done.memory.id}){waits}")


def suggestions(console: Console, found: Sequence[Suggestion]) -> None:
    """Print what is worth sharing."""
    for each in found:
        line(console, Text.assemble((shown(each.title), "bold"), f"  {each.reason}, confidence {each.confidence:.2f}"))
        for project, memory_id in each.origins:
            sentence(console, f"  {project}  {memory_id}", "dim")
    if not found:
        sentence(console, "Nothing new is worth sharing yet.")


def _links(console: Console, found: Sequence[Linked]) -> None:
    for each in found:
        line(console, Text.assemble((each.memory, "bold"), f"  in {each.bank}, from {each.origin}: {each.state}"))
    if not found:
        sentence(console, "Nothing was shared from this project.")


def statuses(console: Console, found: Sequence[SharedStatus]) -> None:
    """Print what a handle may do in shared banks."""
    for each in found:
        may: Any = each.problem or f"may {each.may}, {counts(each.memories) if each.memories else 'no'} lessons"
        due = f", {each.due:,} runs still to be told" if each.due else ""
        line(console, Text.assemble((shown(each.name), "bold"), f"  {may}{due}"))
    if not found:
        sentence(console, "No shared bank is looked through: give --shared, or name them in the scope file.")
