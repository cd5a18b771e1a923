"""Whatever the network, the clocks, the disks and a bad peer do: once they are done, all banks hold the same.

Disks also come back as they were some time ago.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bus.simulation import Kills, Simulation

SEEDS = 50
MANY_SEEDS = 1_000


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> Kills:
    return Kills(monkeypatch)


def lived_through(simulation: Simulation, acts: int) -> None:
    """Let people, the network and eve do their worst, then heal, and wait until all agree."""
    rng = simulation.rng
    for _ in range(acts):
        simulation.somebody_does_something()
        if rng.random() < 0.3:
            simulation.eve_does_something()
        if rng.random() < 0.15:
            simulation.disk_trouble()
        if rng.random() < 0.1:
            simulation.groups = [rng.randint(0, 1) for _ in simulation.machines]
        for _ in range(rng.randint(0, 3)):
            simulation.step()
    simulation.heal()
    # A pull without an answer is made good after two seconds, news come with the digest of a period.
    for _ in range(400):
        simulation.step()
        if simulation.now % 2_000 == 0 and simulation.agree():
            break
    else:
        pytest.fail(f"no agreement: {[simulation.have(machine) for machine in simulation.machines]}")


def check(simulation: Simulation) -> None:
    held = [simulation.held(machine) for machine in simulation.machines]
    for other in held[1:]:
        assert other == held[0]
    # Nothing that was acknowledged is lost, but for what somebody deleted.
    for machine in simulation.machines:
        assert machine.recorded - simulation.deleted <= held[0].keys()
    assert not {memory for memory in held[0] if memory.startswith(("eve", "forged"))}
    # Each vote counts once, on every machine; one that was about to be written when the process died may count or not.
    for machine in simulation.machines:
        assert machine.bank is not None
        for memory in simulation.votes.keys() - simulation.rewritten - simulation.deleted:
            if memory not in held[0]:
                # It was lost with its disk, and all that was said of it.
                assert simulation.votes[memory] == 0
            elif held[0][memory][2] == "active":
                pieces = [piece for piece in machine.bank.evidence(memory).pieces if piece.kind == "explicit"]
                counted = sum(piece.positive for piece in pieces) + sum(piece.negative for piece in pieces)
                told, perhaps = simulation.votes[memory], simulation.perhaps.get(memory, 0)
                twins = {other for other in held[0] if held[0][other][:2] == held[0][memory][:2]}
                assert twins - {memory} or told <= counted <= told + perhaps


@pytest.mark.parametrize("seed", range(SEEDS))
def test_all_banks_hold_the_same_in_the_end(seed: int, tmp_path: Path, kills: Kills) -> None:
    simulation = Simulation(seed, tmp_path / "machines", kills)
    lived_through(simulation, acts=6)
    check(simulation)
    simulation.close()


@pytest.mark.exhaustive
@pytest.mark.timeout(7200)
def test_all_banks_hold_the_same_in_the_end_in_a_thousand_histories(tmp_path: Path, kills: Kills) -> None:
    for seed in range(MANY_SEEDS):
        machines = 2 + seed % 29 if seed % 20 == 0 else None
        simulation = Simulation(1_000_000 + seed, tmp_path / f"machines-{seed}", kills, machines)
        lived_through(simulation, acts=30)
        check(simulation)
        simulation.close()
