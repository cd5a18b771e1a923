"""Everyday traps of tables, texts, numbers and times."""

from __future__ import annotations

from examples.demo.task import Approach, Place, Task, answers, py, sh


def _orders(place: Place) -> None:
    name, rows = (
        ("orders.csv", '1,"Miller, Sons",120\n2,Ada,80\n3,"Lee, Kim",45\n'),
        ("payments.csv", '7,Grace,300\n8,"Ng, Partners",25\n'),
    )[place.variant]
    place.write(name, f"id,customer,amount\n{rows}")


CSV = Task(
    name="csv-total",
    words=(
        "Add up the amount column of orders.csv, in which some customers are quoted",
        "What do the amounts in payments.csv come to? Customer names may be in quotes",
    ),
    approaches=(
        Approach(
            "split each line at the commas with cut",
            sh("tail -n +2 *.csv | cut -d, -f3 | awk '{ sum += $1 } END { print sum }'"),
        ),
        Approach(
            "split each line at the commas with awk", sh("tail -n +2 *.csv | awk -F, '{ sum += $3 } END { print sum }'")
        ),
        Approach(
            "read the rows with a parser that understands quotes",
            py(
                "import csv, glob; rows = csv.DictReader(open(glob.glob('*.csv')[0]));"
                "print(sum(int(row['amount']) for row in rows))"
            ),
        ),
    ),
    prepare=_orders,
    check=answers("245", "325"),
)


def _names_in_latin1(place: Place) -> None:
    name, text = (
        ("members.txt", "Müller\nSchmidt\nMüller\n"),
        ("customers.txt", "Weiß\nMüller\nKoch\nMüller\nMüller\n"),
    )[place.variant]
    place.write(name, text.encode("latin-1"))


LATIN1 = Task(
    name="old-encoding",
    words=(
        "Count how often Müller occurs in members.txt, a text file of the old system",
        "customers.txt was exported by an ancient program; how many lines of the text say Müller?",
    ),
    approaches=(
        Approach(
            "read the file as UTF-8",
            py("import glob; print(open(glob.glob('*.txt')[0], encoding='utf-8').read().count('Müller'))"),
        ),
        Approach(
            "skip the bytes that cannot be read",
            py(
                "import glob; text = open(glob.glob('*.txt')[0], encoding='utf-8', errors='ignore').read();"
                "print(text.count('Müller'))"
            ),
        ),
        Approach(
            "decode it as Latin-1",
            py("import glob; print(open(glob.glob('*.txt')[0], encoding='latin-1').read().count('Müller'))"),
        ),
    ),
    prepare=_names_in_latin1,
    check=answers("2", "3"),
)


def _events(place: Place) -> None:
    name, lines = (
        ("uploads.jsonl", '{"size": 10}\n{"size": 32}\n'),
        ("downloads.jsonl", '{"size": 7}\n{"size": 8}\n{"size": 9}\n'),
    )[place.variant]
    place.write(name, lines)


JSON_LINES = Task(
    name="json-lines",
    words=(
        "Sum the sizes in uploads.jsonl",
        "How big are the entries of downloads.jsonl taken together?",
    ),
    approaches=(
        Approach(
            "load the whole file as one JSON document",
            py("import glob, json; print(sum(e['size'] for e in json.load(open(glob.glob('*.jsonl')[0]))))"),
        ),
        Approach(
            "parse every line on its own",
            py("import glob, json; print(sum(json.loads(line)['size'] for line in open(glob.glob('*.jsonl')[0])))"),
        ),
    ),
    prepare=_events,
    check=answers("42", "24"),
)


def _releases(place: Place) -> None:
    place.write("releases.txt", ("1.2.0\n1.10.0\n1.9.1\n", "3.8.4\n3.11.2\n3.9.0\n")[place.variant])


RELEASES = Task(
    name="newest-release",
    words=(
        "Which release in releases.txt is the newest?",
        "Tell me the latest version number listed in releases.txt",
    ),
    approaches=(
        Approach("sort the lines as text", sh("sort releases.txt | tail -n 1")),
        Approach("sort the lines with sort -n as decimal fractions", sh("sort -n releases.txt | tail -n 1")),
        Approach(
            "compare the parts between the dots as whole numbers",
            py("print(max(open('releases.txt').read().split(), key=lambda v: [int(part) for part in v.split('.')]))"),
        ),
    ),
    prepare=_releases,
    check=answers("1.10.0", "3.11.2"),
)


def _prices(place: Place) -> None:
    prices, total = (("0.10\n0.20\n", "0.30"), ("1.10\n2.20\n", "3.30"))[place.variant]
    place.write("prices.txt", prices)
    place.write("total.txt", total)


PRICES = Task(
    name="exact-prices",
    words=(
        "Do the prices in prices.txt add up to exactly the sum in total.txt? Answer yes or no",
        "Check the bill: is total.txt precisely what the prices of prices.txt make together? yes or no",
    ),
    approaches=(
        Approach(
            "add the prices as binary floating point",
            py("print('yes' if sum(map(float, open('prices.txt'))) == float(open('total.txt').read()) else 'no')"),
        ),
        Approach(
            "add the prices as exact decimals",
            py(
                "from decimal import Decimal; total = sum(Decimal(price.strip()) for price in open('prices.txt'));"
                "print('yes' if total == Decimal(open('total.txt').read()) else 'no')"
            ),
        ),
    ),
    prepare=_prices,
    check=answers("yes", "yes"),
)


def _times(place: Place) -> None:
    lines = (
        "2026-03-01T09:30:00+02:00 backup\n2026-03-01T08:00:00+00:00 deploy\n",
        "2026-05-09T23:10:00-05:00 login\n2026-05-10T01:00:00+00:00 logout\n2026-05-10T05:30:00+05:30 reset\n",
    )[place.variant]
    place.write("events.log", lines)


TIMES = Task(
    name="first-event",
    words=(
        "Which event in events.log happened first? The times have offsets",
        "events.log was written in several time zones: what came earliest?",
    ),
    approaches=(
        Approach("sort the time stamps as text", sh("sort events.log | head -n 1 | cut -d' ' -f2")),
        Approach(
            "convert every time to UTC before comparing",
            py(
                "from datetime import datetime;"
                "events = [line.split() for line in open('events.log')];"
                "print(min(events, key=lambda event: datetime.fromisoformat(event[0]))[1])"
            ),
        ),
    ),
    prepare=_times,
    check=answers("backup", "reset"),
)


def _customers(place: Place) -> None:
    # The same name in two Unicode forms: it looks alike, and is not.
    names = ("Jos\u00e9\nJose\u0301\nAda\n", "Zoe\u0308\nGrace\nZo\u00eb\nKim\n")[place.variant]
    place.write("people.txt", names)


DISTINCT = Task(
    name="distinct-names",
    words=(
        "How many different people are in people.txt?",
        "Count the distinct persons that people.txt names",
    ),
    approaches=(
        Approach("drop repeated lines with sort -u", sh("sort -u people.txt | wc -l | tr -d ' '")),
        Approach(
            "drop repeated lines without regard to capitals",
            sh("tr A-Z a-z < people.txt | sort -u | wc -l | tr -d ' '"),
        ),
        Approach(
            "drop lines that differ in blanks only", sh("tr -d ' \\t' < people.txt | sort -u | wc -l | tr -d ' '")
        ),
    ),
    prepare=_customers,
    check=answers("2", "3"),
)
