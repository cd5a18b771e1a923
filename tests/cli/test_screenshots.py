"""Pictures of the command line: each shows what its command is for, at 60 columns and at 120."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import demo_picture, screenshots

SHOWN = {
    "help": ["recall", "Hand out the memories"],
    "search": ["Parse CSV with the csv module", "similarity"],
    "list": ["Parse CSV with the csv module", "used 2×", "archived"],
    "episodes": ["load the sales figures", "success", "open"],
    "status": ["acme", "billing", "memories"],
    "projects": ["website", "active"],
}


@pytest.mark.parametrize("columns", screenshots.WIDTHS)
def test_every_picture_shows_what_its_command_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    screenshots.furnish(tmp_path)
    for name, value in {"ROOT": str(tmp_path), "TENANT": "acme", "PROJECT": "billing"}.items():
        monkeypatch.setenv(f"REASONINGBANK_{name}", value)

    for name, arguments in screenshots.COMMANDS.items():
        text, picture = screenshots.drawn(arguments, columns)

        assert [word for word in SHOWN[name] if word not in text] == [], name
        assert max(map(len, text.splitlines())) <= columns or name == "status"
        assert picture.startswith("<svg")
        assert "url(" not in picture.replace("url(#", ""), "a picture fetches nothing"


def test_the_picture_of_the_demo_is_the_end_of_what_it_says_in_its_colours() -> None:
    end = "\x1b[1mA command that fails\x1b[0m\n\n\x1b[32m✓\x1b[0m sh publish.sh"
    said = f"Round 1\n✗ csv-total\n{end}\n\nThe data is in /tmp/x\nLook at it"

    assert demo_picture.excerpt(said) == end
    with pytest.raises(LookupError, match="The data is in"):
        demo_picture.excerpt(end)


def test_the_demos_lines_come_one_after_the_other_and_each_stays() -> None:
    _, still = screenshots.picture("\n".join(f"line {n}" for n in range(5)), 40, "demo")
    moving = demo_picture.animated(still)

    starts = [float(share) for share in re.findall(r"opacity: 0 \} ([\d.]+)%, to \{ opacity: 1", moving)]
    assert len(starts) >= 5
    assert starts == sorted(set(starts))
    assert 0 == starts[0] < starts[-1] < 50
    # Nothing but the motion was added: a reader of the file has the same text.
    assert re.sub(r"@media.*(?=\n    </style>)", "", moving, flags=re.DOTALL).split() == still.split()
