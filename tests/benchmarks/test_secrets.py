"""The benchmark of the scrubber on files of anybody's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_a_folder_of_labelled_files_gives_a_figure_for_each_and_one_for_all(tmp_path: Path) -> None:
    found = {"label": "secret", "type": "password", "text": "DB_PASS=velvet9river", "secrets": ["velvet9river"]}
    missed = {"label": "secret", "type": "word", "text": "say swordfish at the door", "secrets": ["swordfish"]}
    clean = {"label": "clean", "text": "the password is hashed"}
    (tmp_path / "tuned.jsonl").write_text("\n".join(map(json.dumps, (found, clean))), "utf-8")
    (tmp_path / "unseen.py").write_text(f"print({json.dumps(missed)!r})", "utf-8")

    said = subprocess.run(
        [sys.executable, "-m", "benchmarks.secrets", "--data", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )

    result = json.loads(said.stdout)
    assert {name: of["recall"] for name, of in result.items()} == {
        "not tuned on": 0.5,
        "tuned.jsonl": 1,
        "unseen.py": 0,
    }
    assert result["not tuned on"]["false_alarms"] == 0.0
