"""Watch a confidence move: votes and outcomes are evidence, and the bank says how sure it is."""

from reasoningbank import ReasoningBank

with ReasoningBank("memory", tenant="acme", project="shop") as bank:
    good = bank.record(
        "Lock rows before an update", "Select the row for update first.", outcome="success", confidence=0.5
    )
    bad = bank.record(
        "Lock the table before an update", "Lock the whole table first.", outcome="success", confidence=0.5
    )

    for day in range(6):
        bank.vote(good.memory.id, helpful=True, ref=f"review {day}")
        bank.vote(bad.memory.id, helpful=False, ref=f"review {day}")

    for memory_id in (good.memory.id, bad.memory.id):
        memory = bank.get(memory_id)
        print(f"{memory.confidence:.2f}  {memory.title}")

    found = bank.search("lock before an update", limit=5)
    print([hit.memory.title for hit in found.hits], "withheld:", found.withheld)
