"""Links between memories: set by hand, suggested by evidence, followed by a recall."""

from __future__ import annotations

import json

import pytest

from reasoningbank import InvalidInputError, MemoryNotFoundError, ReasoningBank
from reasoningbank.links import Conflict
from tests.conftest import Clock, OpenBank

TEXTS = {
    "deploy": ("Deploy with the blue script", "Run deploy-blue to bring the service to production"),
    "vpn": ("Open the tunnel", "Connect with wireguard before reaching internal hosts"),
    "key": ("Renew the certificate", "Ask vault for a fresh client key every morning"),
    "green": ("Deploy with the green script", "Run deploy-green to bring the service to production"),
}


@pytest.fixture
def ids(bank: ReasoningBank) -> dict[str, str]:
    return {name: bank.record(title, content, outcome="success").memory.id for name, (title, content) in TEXTS.items()}


TASK = "run deploy-blue to bring the service to production"


def test_a_link_is_there_from_both_ends_with_its_evidence_and_its_judge(
    bank: ReasoningBank, ids: dict[str, str], clock: Clock
) -> None:
    done = bank.links.add(ids["deploy"], ids["vpn"], "requires", strength=0.9, evidence="hosts are internal", by="ada")

    assert done.created
    assert done.warning == ""
    assert (done.link.source, done.link.target, done.link.type) == (ids["deploy"], ids["vpn"], "requires")
    assert (done.link.evidence, done.link.by, done.link.created_at) == ("hosts are internal", "ada", clock.now)
    assert bank.links.of(ids["vpn"]) == bank.links.of(ids["deploy"]) == [done.link]


def test_set_again_a_link_is_changed_and_not_doubled(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    again = bank.links.add(ids["deploy"], ids["vpn"], "requires", strength=0.5)

    assert not again.created
    assert [link.strength for link in bank.links.of(ids["deploy"])] == [0.5]


def test_a_conflict_is_the_same_from_either_end_and_a_requirement_is_not(
    bank: ReasoningBank, ids: dict[str, str]
) -> None:
    bank.links.add(ids["deploy"], ids["green"], "conflicts")
    assert not bank.links.add(ids["green"], ids["deploy"], "conflicts").created
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    assert bank.links.add(ids["vpn"], ids["deploy"], "requires").created

    assert bank.links.remove(ids["green"], ids["deploy"], "conflicts") == 1
    assert bank.links.remove(ids["vpn"], ids["deploy"], "requires") == 1
    assert [link.type for link in bank.links.of(ids["deploy"])] == ["requires"]


def test_unlinking_without_a_type_removes_all_that_lead_there(bank: ReasoningBank, ids: dict[str, str]) -> None:
    for type_ in ("requires", "refines"):
        bank.links.add(ids["deploy"], ids["vpn"], type_)
    bank.links.add(ids["vpn"], ids["deploy"], "alternative")
    bank.links.add(ids["vpn"], ids["deploy"], "causes")

    assert bank.links.remove(ids["deploy"], ids["vpn"]) == 3
    assert [link.type for link in bank.links.of(ids["vpn"])] == ["causes"]
    assert bank.links.remove(ids["deploy"], ids["key"]) == 0


def test_an_unknown_type_is_taken_with_a_warning(bank: ReasoningBank, ids: dict[str, str]) -> None:
    assert "not a known one" in bank.links.add(ids["deploy"], ids["vpn"], "entails").warning
    assert [link.type for link in bank.links.of(ids["deploy"])] == ["entails"]


def test_evidence_loses_its_secrets(bank: ReasoningBank, ids: dict[str, str]) -> None:
    done = bank.links.add(
        ids["deploy"], ids["vpn"], "requires", evidence="password=hunter2hunter2", by="token=abcd1234efgh"
    )

    assert "hunter2" not in done.link.evidence
    assert "abcd1234efgh" not in done.link.by


def test_both_ends_are_of_this_project(bank: ReasoningBank, ids: dict[str, str], open_bank: OpenBank) -> None:
    other = open_bank(project="other")
    theirs = other.record("Theirs", "Of another project", outcome="success").memory.id

    for source, target in ((ids["deploy"], theirs), (theirs, ids["deploy"])):
        with pytest.raises(MemoryNotFoundError):
            bank.links.add(source, target, "requires")
        with pytest.raises(MemoryNotFoundError):
            bank.links.remove(source, target)
    assert other.links.of(theirs) == []


def test_a_memory_is_not_linked_with_itself(bank: ReasoningBank, ids: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError, match="with itself"):
        bank.links.add(ids["deploy"], ids["deploy"], "requires")


def test_without_a_project_there_is_nothing_to_link(bank: ReasoningBank) -> None:
    for call in (
        lambda: bank.links.add("a", "b", "requires"),
        lambda: bank.links.remove("a", "b"),
        lambda: bank.links.of("a"),
    ):
        with pytest.raises(MemoryNotFoundError):
            call()
    assert bank.links.suggest() == []


def test_deleting_a_memory_removes_its_links(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    bank.links.add(ids["key"], ids["deploy"], "refines")
    bank.delete(ids["deploy"])

    assert bank.links.of(ids["vpn"]) == bank.links.of(ids["key"]) == []


# -- recall ----------------------------------------------------------------------------------------------------------


def test_a_recall_brings_along_what_is_required_right_behind_what_requires_it(
    bank: ReasoningBank, ids: dict[str, str]
) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires", strength=0.9)
    bank.links.add(ids["vpn"], ids["key"], "requires", strength=0.5)

    plain = bank.recall(TASK, 1)
    recall = bank.recall(TASK, 1, expand_links=True)

    assert [m.id for m in plain.memories] == [ids["deploy"]]
    assert plain.required == ()
    assert [m.id for m in recall.memories] == [ids["deploy"], ids["vpn"], ids["key"]]
    assert recall.required == (ids["vpn"], ids["key"])
    assert [hit.why.get("required") for hit in recall.hits[1:]] == [0.9, 0.45]
    assert all(memory.content in recall.text for memory in recall.memories)


def test_what_came_along_is_served_and_credited_like_the_others(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    recall = bank.recall(TASK, 1, expand_links=True)

    assert bank.get(ids["vpn"]).usage_count == 1
    assert [s.memory for s in bank.runs.get(recall.ref).memories] == [ids["deploy"], ids["vpn"]]
    assert set(bank.report("success", ref=recall.ref).credited) == {ids["deploy"], ids["vpn"]}


def test_what_does_not_fit_the_budget_is_left_out_and_not_counted(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    # A block's mark is drawn by chance: it takes up to 16 tokens more or less. The other lesson takes some 50.
    room = bank.recall(TASK, 1).tokens + 25
    recall = bank.recall(TASK, 1, max_tokens=room, expand_links=True)

    assert recall.tokens <= room
    assert [m.id for m in recall.memories] == [ids["deploy"]]
    assert recall.required == ()
    assert recall.withheld["token budget"] == 1
    assert bank.get(ids["vpn"]).usage_count == 0


def test_what_a_search_would_withhold_does_not_come_along(bank: ReasoningBank, ids: dict[str, str]) -> None:
    for name in ("vpn", "key", "green"):
        bank.links.add(ids["deploy"], ids[name], "requires")
    bank.upkeep.archive(ids["vpn"])
    for i in range(8):
        bank.vote(ids["key"], False, ref=f"run {i}")
    bank.update(ids["green"], confidence=0.5)
    plain = bank.recall(TASK, 1, strict=True).withheld
    recall = bank.recall(TASK, 1, expand_links=True, strict=True)

    assert [m.id for m in recall.memories] == [ids["deploy"]]
    assert recall.withheld["rejected"] == plain.get("rejected", 0) + 1
    assert recall.withheld["provisional"] == plain.get("provisional", 0) + 1


def test_a_link_brings_no_second_memory_of_an_untrusted_source(bank: ReasoningBank, ids: dict[str, str]) -> None:
    source = {"how": "imported", "by": "stranger", "trusted": False}
    theirs = [
        bank.record(f"Theirs {i}", text, outcome="success", source=source).memory.id
        for i, text in enumerate(("alpha beta", "gamma delta"))
    ]
    for target in theirs:
        bank.links.add(ids["deploy"], target, "requires")
    recall = bank.recall(TASK, 1, expand_links=True)

    assert recall.required == (theirs[0],)
    assert recall.withheld["untrusted source"] == 1


def test_a_recall_warns_of_memories_that_conflict_in_the_result_and_in_the_block(
    bank: ReasoningBank, ids: dict[str, str]
) -> None:
    bank.links.add(ids["green"], ids["deploy"], "conflicts", strength=0.7, evidence="both bind the port")
    recall = bank.recall(TASK, 3, expand_links=True)

    assert {ids["deploy"], ids["green"]} <= {m.id for m in recall.memories}
    assert recall.conflicts == (Conflict(ids["green"], ids["deploy"], "conflicts", 0.7, "both bind the port"),)
    assert f"[{ids['green']}] and [{ids['deploy']}] cannot both be followed" in recall.text
    assert recall.tokens <= 500


def test_a_conflict_with_what_is_not_handed_out_is_no_warning(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["key"], ids["deploy"], "conflicts")
    recall = bank.recall(TASK, 1, expand_links=True)

    assert recall.conflicts == ()
    assert "cannot both" not in recall.text


def test_a_repeated_recall_warns_again_and_counts_nothing_anew(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.links.add(ids["deploy"], ids["green"], "contradicts")
    first = bank.recall(TASK, 3, ref="r", expand_links=True)
    again = bank.recall(TASK, 3, ref="r", expand_links=True)

    assert again.repeated
    assert again.conflicts == first.conflicts != ()
    assert "cannot both be followed" in again.text
    assert bank.get(ids["deploy"]).usage_count == 1


def test_with_nothing_found_there_is_nothing_to_expand(bank: ReasoningBank, ids: dict[str, str]) -> None:
    assert bank.recall("zebra quantum marmalade", 1, expand_links=True).hits == ()


# -- suggestions -----------------------------------------------------------------------------------------------------


def test_memories_that_are_alike_are_suggested_and_those_linked_already_are_not(
    bank: ReasoningBank, ids: dict[str, str]
) -> None:
    copy = bank.record("With the blue script deploy", TEXTS["deploy"][1], outcome="success").memory.id
    avoid = bank.record(*TEXTS["key"], outcome="failure").memory.id
    found = {(s.source, s.target): s for s in bank.links.suggest()}

    assert found[copy, ids["deploy"]].type == "alternative"
    assert found[avoid, ids["key"]].type == "contradicts"
    assert bank.links.suggest(1)[0] == max(found.values(), key=lambda s: s.strength)
    for s in found.values():
        bank.links.add(s.source, s.target, s.type, strength=s.strength, evidence=s.evidence, by="bank")
    assert bank.links.suggest() == []


def test_memories_that_are_used_together_are_suggested_by_how_their_runs_ended(
    bank: ReasoningBank, ids: dict[str, str]
) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires")
    for i in range(4):
        bank.recall(TASK, 1, ref=f"run {i}", expand_links=True)
        bank.report(i > 0, ref=f"run {i}")
    bank.links.remove(ids["deploy"], ids["vpn"])
    (found,) = [s for s in bank.links.suggest() if s.type == "enhances"]

    assert (found.source, found.target, found.strength) == (ids["deploy"], ids["vpn"], 1.0)
    assert found.evidence == "handed out together in 4 of 4 runs; 3 of 4 succeeded"


# -- in and out ------------------------------------------------------------------------------------------------------


def test_links_move_with_an_export_and_come_back_trusted(
    bank: ReasoningBank, ids: dict[str, str], open_bank: OpenBank, tmp_path: object
) -> None:
    bank.links.add(ids["deploy"], ids["vpn"], "requires", strength=0.9, evidence="internal", by="ada")
    bank.links.add(ids["vpn"], ids["deploy"], "enhances")
    bank.exchange.export_to(f"{tmp_path}/all.jsonl")
    copy, stranger = open_bank(project="copy"), open_bank(project="stranger")
    copy.exchange.import_from(f"{tmp_path}/all.jsonl", trusted=True)
    stranger.exchange.import_from(f"{tmp_path}/all.jsonl")

    assert copy.links.of(ids["deploy"]) == bank.links.of(ids["deploy"])
    assert stranger.links.of(ids["deploy"]) == []
    bank.exchange.export_to(f"{tmp_path}/pages", format="markdown")
    pages = open_bank(project="pages")
    pages.exchange.import_from(f"{tmp_path}/pages", trusted=True)
    assert pages.links.of(ids["deploy"]) == bank.links.of(ids["deploy"])


def test_a_link_in_a_line_that_leads_nowhere_is_left_out_and_a_bad_one_names_its_line(bank: ReasoningBank) -> None:
    line = {"format": "reasoningbank/1", "id": "a", "content": "Do it"}
    good = line | {"links": [{"target": "gone", "type": "causes"}, {"target": "a", "type": "causes"}]}
    bad = line | {"id": "b", "content": "Other", "links": [{"target": "a", "type": "causes", "strength": 7}]}
    imported = bank.exchange.import_from([json.dumps(good), json.dumps(bad)], trusted=True)

    assert bank.links.of("a") == []
    assert [(r.line, "strength 7" in r.reason) for r in imported.rejected] == [(2, True)]
