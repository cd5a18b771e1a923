"""Record a lesson, recall it for a task, and report how the task went."""

from reasoningbank import ReasoningBank

with ReasoningBank("memory", tenant="acme", project="ops") as bank:
    bank.record(
        "Quote file names",
        "Put file names in double quotes: a blank in a name splits the command.",
        outcome="failure",
        applies_when="a shell command gets file names from outside",
    )

    recall = bank.recall("rename every scan with a shell command")
    print(recall.text)

    before = recall.memories[0].confidence
    bank.report("success", ref=recall.ref)
    after = bank.get(recall.memories[0].id).confidence
    print(f"\nconfidence before the task {before:.2f}, after its success {after:.2f}")
