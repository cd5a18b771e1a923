from __future__ import annotations

from reasoningbank.adapters import RunTree


def test_what_is_opened_below_a_root_ends_with_it() -> None:
    runs = RunTree()
    runs.begin("root", None, thread="t")
    runs.begin("node", "root")
    runs.begin("inner", "node")
    runs.note("inner", "e-1")
    runs.note("root", "e-1")
    runs.note("node", "e-2")

    assert runs.end("inner") is None
    assert runs.end("node") is None
    ended = runs.end("root")

    assert ended is not None
    assert (ended.thread, ended.opened, ended.resumed) == ("t", ["e-1", "e-2"], False)
    assert len(runs) == 0


def test_the_first_run_that_is_seen_is_a_root_even_inside_somebody_elses_chain() -> None:
    runs = RunTree()
    runs.begin("ours", "a chain nobody told us of")
    runs.note("ours", "e")

    ended = runs.end("ours")
    assert ended is not None
    assert ended.opened == ["e"]


def test_roots_do_not_mix() -> None:
    runs = RunTree()
    for name in ("a", "b"):
        runs.begin(name, None)
        runs.begin(f"{name}-node", name)
    runs.note("a-node", "e-a")
    runs.note("b-node", "e-b")

    first, second = runs.end("a"), runs.end("b")
    assert first is not None
    assert second is not None
    assert (first.opened, second.opened) == (["e-a"], ["e-b"])


def test_a_run_that_is_not_known_is_passed_over() -> None:
    runs = RunTree()
    runs.note("never begun", "e")
    runs.note(None, "e")
    runs.resume("never begun")

    assert runs.end("never begun") is None


def test_a_resumed_run_says_so() -> None:
    runs = RunTree()
    runs.begin("root", None)
    runs.begin("node", "root")
    runs.resume("node")

    ended = runs.end("root")
    assert ended is not None
    assert ended.resumed
