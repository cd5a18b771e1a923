"""From a folder to a server and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, ReasoningBank, State
from reasoningbank.errors import InvalidInputError, ProjectMovedError, ProjectNotFoundError, StorageError
from reasoningbank.storage import meta, moving
from tests.conftest import Clock
from tests.servers import Postgres


@pytest.fixture
def server(postgres: Postgres) -> Iterator[str]:
    yield postgres.application
    postgres.empty()


def opened(root: Path | str, clock: Clock) -> ReasoningBank:
    return ReasoningBank(root, tenant="acme", project="billing", embedder="hash", clock=clock)


def live(bank: ReasoningBank, clock: Clock) -> None:
    """Do a little of everything."""
    ids = []
    for n in range(6):
        said = bank.record(f"Look at promotion {n}", f"Before blaming forecast {n}", outcome="success", tags=["sales"])
        ids.append(said.memory.id)
    for n in range(4):
        clock.move(days=9)
        bank.recall(f"why did the forecast {n} fail", ref=f"run {n}")
        bank.report("success" if n % 2 else "failure", ref=f"run {n}", reason=f"it was run {n}")
        bank.vote(ids[n], n != 2, ref=f"run {n}")
    bank.update(ids[0], content="After looking twice", reason="it was too short")
    bank.upkeep.maintain()
    bank.delete(ids[5])
    for node in ("N1", "N2"):
        bank.graph.add_node("AgentAction", f"joined {node} with promotions", node_id=node)
    bank.graph.add_edge("N1", "N2", "led to", weight=0.5)
    bank.upkeep.pin(ids[1])


def seen(bank: ReasoningBank) -> dict[str, Any]:
    memories = [memory for state in State for memory in bank.list(limit=100, state=state).memories]
    return {
        "memories": [(m.id, m.title, m.content, m.confidence, m.revision, m.usage_count, m.state) for m in memories],
        "hits": [(hit.memory.id, round(hit.score, 9)) for hit in bank.search("why did the forecast fail", 5).hits],
        "nodes": [hit.node.id for hit in bank.graph.search("promotions").hits],
        "history": {m.id: len(bank.revisions(m.id)) for m in memories},
        "defects": bank.upkeep.doctor(dry_run=True),
    }


def test_there_and_back_everything_is_as_it_was_and_goes_on(tmp_path: Path, server: str, clock: Clock) -> None:
    folder = tmp_path / "root"
    with opened(folder, clock) as bank:
        live(bank, clock)
        before = seen(bank)

    BankRoot(folder, tenant="acme").move("billing", server)
    with opened(server, clock) as bank:
        assert seen(bank) == before
    with pytest.raises(ProjectMovedError, match="postgresql://"), opened(folder, clock) as bank:
        bank.count()
    BankRoot(server, tenant="acme").move("billing", folder)

    with opened(folder, clock) as bank:
        assert seen(bank) == before
        new = bank.record("Ask twice", "Once is not enough", outcome="success").memory
        bank.vote(new.id, True, ref="x")
        assert bank.upkeep.doctor(dry_run=True) == []
    with pytest.raises(ProjectMovedError), opened(server, clock) as bank:
        bank.count()


def test_a_backup_of_a_server_is_a_folder_that_opens(tmp_path: Path, server: str, clock: Clock) -> None:
    with opened(server, clock) as bank:
        live(bank, clock)
        before = seen(bank)
        where = Path(ReasoningBank(tmp_path / "copy", tenant="acme", project="billing").upkeep.status().folder)
        where.parent.mkdir(parents=True)
        bank.upkeep.backup(where)
        assert seen(bank) == before

    with opened(tmp_path / "copy", clock) as copy:
        assert seen(copy) == before


def test_what_does_not_arrive_whole_was_never_sent(
    tmp_path: Path, server: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "root"
    with opened(folder, clock) as bank:
        live(bank, clock)
        before = seen(bank)

    def cut(*_: object) -> None:
        raise StorageError("the disk is full", path=tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(moving, "_copy_segment", cut)
        with pytest.raises(StorageError, match="the disk is full"):
            BankRoot(folder, tenant="acme").move("billing", server)

    assert BankRoot(server, tenant="acme").projects() == []
    with opened(folder, clock) as bank:
        assert seen(bank) == before
    BankRoot(folder, tenant="acme").move("billing", server)
    with opened(server, clock) as bank:
        assert seen(bank) == before


def test_a_move_that_was_stopped_before_its_end_is_gone_on_with(
    tmp_path: Path, server: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "root"
    with opened(folder, clock) as bank:
        live(bank, clock)
        before = seen(bank)
    put = meta.put

    def killed(writing: Any, key: str, value: str) -> None:
        if key == "moved_to":
            raise KeyboardInterrupt
        put(writing, key, value)

    with monkeypatch.context() as patch:
        patch.setattr(meta, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            BankRoot(folder, tenant="acme").move("billing", server)

    BankRoot(folder, tenant="acme").move("billing", server)

    with opened(server, clock) as bank:
        assert seen(bank) == before


def test_another_project_of_the_same_name_is_never_overwritten(tmp_path: Path, server: str, clock: Clock) -> None:
    with opened(tmp_path / "root", clock) as bank, opened(server, clock) as other:
        bank.record("Mine", "It is mine", outcome="success")
        other.record("Theirs", "It is theirs", outcome="success")

        with pytest.raises(InvalidInputError, match="another project"):
            BankRoot(tmp_path / "root", tenant="acme").move("billing", server)

        assert (bank.count(), other.count()) == (1, 1)
    with pytest.raises(ProjectNotFoundError):
        BankRoot(tmp_path / "root", tenant="acme").move("nothing", server)


def test_shared_banks_go_along_with_their_members_and_go_on(tmp_path: Path, server: str, clock: Clock) -> None:
    folder = tmp_path / "root"
    with BankRoot(folder, tenant="acme", embedder="hash", clock=clock) as root:
        root.shared.create("org", approvers=["sales"], readers=["billing"])
        sales = root.open("sales", shared=("org",))
        own = sales.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure").memory.id
        sales.sharing.promote(own, to="org")
        with root.open("billing", shared=("org",)).episode("put paths in quotes", ref="run") as run:
            run.report("success")
        before = root.shared.get("org")
        for project in ("billing", "sales"):
            root.move(project, server)
        root.shared.move("org", server)

    with BankRoot(server, tenant="acme", embedder="hash", clock=clock) as moved:
        assert moved.shared.get("org") == before
        billing = moved.open("billing", shared=("org",))
        assert [hit.level for hit in billing.search("put paths in quotes").hits] == ["org"]
        billing.report("failure", ref="run")
        assert [link.state for link in moved.open("sales", shared=("org",)).sharing.links()] == ["same"]
        with moved.shared.open("org") as org:
            outcomes = [p for m in org.list().memories for p in org.evidence(m.id).pieces if p.kind == "outcome"]
        assert [piece.negative > 0 for piece in outcomes] == [True]
