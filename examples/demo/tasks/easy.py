"""Tasks that succeed at once."""

from __future__ import annotations

from examples.demo.task import Approach, Place, Task, answers, sh

COUNT = Task(
    name="count-lines",
    words=("How many lines has access.log?", "Count the entries of access.log"),
    approaches=(
        Approach("count the line ends with wc", sh("wc -l < access.log | tr -d ' '")),
        Approach("guess from the size of the file", sh("wc -c < access.log | tr -d ' '")),
    ),
    prepare=lambda place: place.write("access.log", "GET /\n" * (3, 5)[place.variant]),
    check=answers("3", "5"),
)


def _packed(place: Place, _answer: str) -> str:
    return "" if (place.folder / "notes.tar").is_file() else "there is no notes.tar"


ARCHIVE = Task(
    name="archive-notes",
    words=("Pack the folder notes into notes.tar", "Make an archive notes.tar of everything in notes"),
    approaches=(
        Approach("pack the folder with tar", sh("tar -cf notes.tar notes")),
        Approach("copy the folder under the new name", sh("cp -r notes notes.tar")),
    ),
    prepare=lambda place: place.write("notes/todo.txt", "write"),
    check=_packed,
)


def _reports(place: Place) -> None:
    small, large = (("q1", "total"), ("may", "march"))[place.variant]
    place.write(f"reports/{small}", "x")
    place.write(f"reports/{large}", "x" * 50)


LARGEST = Task(
    name="largest-file",
    words=("Which file in reports/ is the largest?", "Name the biggest file of the folder reports"),
    approaches=(
        Approach("list the files by size with ls -S", sh("ls -S reports | head -n 1")),
        Approach("take the newest file", sh("ls -t reports | head -n 1")),
    ),
    prepare=_reports,
    check=answers("total", "march"),
)
