"""Let a context manager open and close the episode: an exception is a failure, an end without a report is unknown."""

from reasoningbank import ReasoningBank

with ReasoningBank("memory", tenant="acme", project="data") as bank:
    bank.record("Read CSV with csv.reader", "Do not split at commas: a quoted field may hold one.", outcome="failure")

    with bank.episode("count the fields of a line of a CSV file") as run:
        line = '7,"Doe, Jane",Oslo'
        if "csv.reader" in run.text:
            import csv

            fields = next(csv.reader([line]))
        else:
            fields = line.split(",")
        run.report("success" if len(fields) == 3 else "failure")

    print(f"{len(fields)} fields; the run ended as {bank.runs.get(run.ref).verdict}")
