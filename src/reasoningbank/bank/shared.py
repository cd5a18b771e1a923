"""BankRoot(...).shared: the shared banks of a tenant, who they are open to, and what is worth putting there."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Literal

from reasoningbank.bank.bank import ReasoningBank
from reasoningbank.bank.handle import Handle, Later
from reasoningbank.bank.sharing import checked_bank, checked_names
from reasoningbank.config import data_root
from reasoningbank.errors import InvalidInputError, ProjectNotFoundError
from reasoningbank.sharing.results import Member, Promoted, SharedBankFacts, Suggestion
from reasoningbank.sharing.rights import Right
from reasoningbank.storage import meta, records, sharing
from reasoningbank.storage.contract import by_state
from reasoningbank.storage.place import place_at
from reasoningbank.storage.root import checked_name

if TYPE_CHECKING:
    from reasoningbank.bank.root import BankRoot
    from reasoningbank.services.sharing import suggest
else:
    suggest = Later("reasoningbank.services.sharing.suggest")


class SharedBank(ReasoningBank):
    """A shared bank, for whoever looks after the tenant: its lessons, its review, its evidence by project.

    Everything that a bank does is done in it; `project` is its name. Members reach it by `shared=` only.
    """

    def __init__(self, root: Any, **options: Any) -> None:
        super().__init__(root, **options)
        self._handle.is_shared = True


class SharedBanks:
    """Declares shared banks, says who they are open to, and opens them. It is for whoever looks after the tenant.

    A shared bank that there is none of raises ProjectNotFoundError.
    """

    def __init__(self, root: BankRoot, **options: Any) -> None:
        self._root, self._options = root, options
        self._place = sharing.SharedPlace(place_at(root.root))

    def create(
        self,
        name: str,
        *,
        readers: Iterable[str] = (),
        writers: Iterable[str] = (),
        approvers: Iterable[str] = (),
        people: Mapping[str, Right | str] | None = None,
        auto: bool = False,
    ) -> SharedBankFacts:
        """Declare a shared bank. Nobody reaches it but those who are named; there is none unless it is declared.

        Args:
            name: such as "org" or "team:payments".
            readers, writers, approvers: projects, which need not exist yet, and what they may do (see `Right`).
            people: what people may do, by the name that a handle is opened with (`person=`), through any project that
                reads.
            auto: `promote_suggested` may be called.

        Raises:
            InvalidInputError: there is one of this name.
        """
        bank = checked_bank(name)
        rights = {Right.READ: readers, Right.WRITE: writers, Right.APPROVE: approvers}
        members = [Member("project", checked_name(p, "project"), may) for may, named in rights.items() for p in named]
        members += [Member("person", checked_name(p, "person"), as_right(may)) for p, may in (people or {}).items()]
        if bank in self.names():
            raise InvalidInputError(f"there is a shared bank {bank!r} already: shared.add lets others in")
        with closing(self._handle(bank)) as opened, opened.engine.write() as edit:
            for member in members:
                sharing.put_member(edit, member)
            if auto:
                meta.put(edit, sharing.AUTO, "1")
        return self.get(bank)

    def names(self) -> builtins.list[str]:
        """Return the names of the tenant's shared banks, sorted. Nothing is made."""
        return self._place.names(self._root.tenant)

    def list(self) -> builtins.list[SharedBankFacts]:
        """Return the tenant's shared banks, by name. Nothing is made."""
        return [self.get(name) for name in self.names()]

    def get(self, name: str) -> SharedBankFacts:
        """Return what a shared bank holds, and who may do what in it."""
        with closing(self._there(name)) as opened, opened.engine.read() as view:
            return SharedBankFacts(
                opened.project, sharing.members(view), by_state(view, "memories"), sharing.is_auto(view)
            )

    def open(self, name: str) -> SharedBank:
        """Return a handle on a shared bank itself: to look at it, to review, to take lessons out and put them back.

        It is closed by who opened it, and bound by no membership.
        """
        with closing(self._there(name)) as found:
            bank = found.project
        return SharedBank(self._root.root, tenant=self._root.tenant, project=bank, **self._options)

    def add(
        self, name: str, *, project: str | None = None, person: str | None = None, may: Right | str = Right.READ
    ) -> SharedBankFacts:
        """Let a project or a person in, or give other rights to one who is.

        Raises:
            InvalidInputError: not exactly one of project and person, or an unknown right.
        """
        kind, member = _member(project, person)
        with closing(self._there(name)) as opened, opened.engine.write(create=False) as edit:
            sharing.put_member(edit, Member(kind, member, as_right(may)))
        return self.get(name)

    def remove(self, name: str, *, project: str | None = None, person: str | None = None) -> bool:
        """Shut a project or a person out, from the next call on in every process; say whether it was a member."""
        kind, member = _member(project, person)
        with closing(self._there(name)) as opened, opened.engine.write(create=False) as edit:
            return sharing.remove_member(edit, kind, member)

    def delete(self, name: str) -> None:
        """Delete a shared bank with all that is in it, for good. The lessons that came from projects stay there."""
        with closing(self._there(name)) as opened:
            bank = opened.project
        self._place.delete(self._root.tenant, bank)

    def move(self, name: str, to: str | os.PathLike[str]) -> int:
        """Take a shared bank with its members to another folder or server; return how many rows it has.

        It is done, and told, as `BankRoot.move` does it for a project.

        Raises:
            InvalidInputError: the other place has another shared bank of this name.
            StorageError: a place refuses; nothing was moved.
        """
        from reasoningbank.storage.moving import Named, move

        with closing(self._there(name)) as opened:
            bank = opened.project
        return move(
            Named(self._root.tenant, sharing.reserved(bank)), place_at(self._root.root), place_at(data_root(to))
        )

    def suggest_promotions(self, to: str, *, names: Sequence[str] = ()) -> builtins.list[Suggestion]:
        """Return what is worth sharing of the projects that may write there.

        That is what is proven in three of them or more, near-duplicates counting as one lesson with the evidence of
        all; and what is proven in one and names nothing that only this project has. Nothing is promoted.

        Args:
            names: what else is specific to a project: customers, code names.
        """
        there = set(self._root.projects())
        with ExitStack() as open_files:
            opened = open_files.enter_context(closing(self._there(to)))
            with opened.engine.read() as view:
                members = sharing.members(view)
            projects = [m.name for m in members if m.kind == "project" and m.may.includes(Right.WRITE)]
            handles = [
                open_files.enter_context(closing(self._handle(project, is_shared=False)))
                for project in projects
                if project in there
            ]
            return suggest.suggest([handle.engine for handle in handles], opened.engine, checked_names(names))

    def promote_suggested(self, to: str, *, names: Sequence[str] = ()) -> builtins.list[Promoted]:
        """Promote what is suggested and names nothing specific. Only where the shared bank was declared with `auto`.

        What goes in is served at once if the project may approve, and waits for a review else.
        """
        with closing(self._there(to)) as opened, opened.engine.read() as view:
            if not sharing.is_auto(view):
                raise InvalidInputError(
                    f"shared bank {to!r} takes nothing unasked: declare it with auto=True, or promote one by one"
                )
        done = []
        for each in self.suggest_promotions(to, names=names):
            first, *others = each.origins
            promoted = self._root.open(first[0], shared=(to,)).sharing.promote(
                first[1], to=to, names=names, confidence=each.confidence
            )
            done.append(promoted)
            if promoted.memory is not None:
                self._link(to, promoted.memory.id, others)
        return done

    def _link(self, to: str, copy: str, origins: Iterable[tuple[str, str]]) -> None:
        """Remember the other projects' lessons that say what a shared one says."""
        revisions = {}
        for project, memory_id in origins:
            with closing(self._handle(project, is_shared=False)) as own, own.engine.read() as view:
                if (found := records.find_revision(view, memory_id)) is not None:
                    revisions[project, memory_id] = found[1]
        with closing(self._there(to)) as opened, opened.engine.write(create=False) as edit:
            if (there := records.find_revision(edit, copy)) is not None:
                for (project, memory_id), revision in revisions.items():
                    came = sharing.Origin(there[0], project, memory_id, revision, there[1])
                    sharing.note_promoted(edit, came, "", opened.engine.now())

    def _there(self, name: str) -> Handle:
        """Return a handle on a shared bank that was declared."""
        bank = checked_bank(name)
        if bank not in self.names():
            hint = "shared.list() says which shared banks there are, shared.create declares one"
            raise ProjectNotFoundError(bank, self._root.tenant, hint)
        return self._handle(bank)

    def _handle(self, project: str, *, is_shared: bool = True) -> Handle:
        handle = Handle(self._root.root, tenant=self._root.tenant, project=project, **self._options)
        handle.is_shared = is_shared
        return handle


def as_right(given: Right | str) -> Right:
    """Return a right; InvalidInputError for what is none."""
    try:
        return Right(given)
    except ValueError:
        raise InvalidInputError(f"may {given!r:.80} is not one of {', '.join(Right)}") from None


def _member(project: str | None, person: str | None) -> tuple[Literal["project", "person"], str]:
    if (project is None) == (person is None):
        raise InvalidInputError("give either a project or a person")
    return ("project", checked_name(project, "project")) if project else ("person", checked_name(person, "person"))
