from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from reasoningbank.config import ENVIRONMENT, Settings, data_folder, environment
from reasoningbank.errors import InvalidInputError


def test_settings_are_the_same_from_a_dictionary_from_keywords_and_from_settings() -> None:
    assert Settings.of({"floor": 0.5, "keep_days": 7}) == Settings.of(Settings(floor=0.5, keep_days=7))


def test_no_settings_are_the_defaults() -> None:
    assert Settings.of(None) == Settings()


def test_a_misspelt_setting_is_an_error_that_names_the_nearest_one() -> None:
    with pytest.raises(InvalidInputError, match=r"flor.*floor"):
        Settings.of({"flor": 0.5})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("floor", "high"),
        ("floor", 1.5),
        ("floor", float("nan")),
        ("durability", "maximal"),
        ("keep_days", 0),
        ("busy_timeout", -1),
        ("busy_timeout", None),
    ],
)
def test_a_setting_of_the_wrong_kind_is_an_error_that_names_it(name: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=name):
        Settings.of({name: value})


def test_settings_cannot_change_under_a_bank() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().floor = 0.1  # type: ignore[misc]


def test_the_environment_says_scope_folder_and_embedder() -> None:
    assert environment({variable: f"the {key}" for key, variable in ENVIRONMENT.items()}) == {
        key: f"the {key}" for key in ENVIRONMENT
    }


def test_an_empty_variable_counts_as_unset() -> None:
    assert environment({"REASONINGBANK_TENANT": "", "HOME": "elsewhere"}) == {}


def test_without_a_root_the_data_goes_where_the_system_keeps_user_data() -> None:
    assert data_folder(None) == Path(platformdirs.user_data_dir("reasoningbank", appauthor=False))


def test_a_relative_root_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert data_folder("my bank") == tmp_path / "my bank"
    assert data_folder(Path("a/b")) == tmp_path / "a" / "b"


def test_a_root_may_use_the_home_folder_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BANKS", str(tmp_path / "banks"))

    assert data_folder("~/bank") == tmp_path / "bank"
    assert data_folder("$HOME/bank") == tmp_path / "bank"
    assert data_folder("${BANKS}/mine") == tmp_path / "banks" / "mine"


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_root_is_an_error_and_not_the_working_folder(empty: str) -> None:
    with pytest.raises(InvalidInputError, match="root is empty"):
        data_folder(empty)


def test_an_absolute_root_stays(tmp_path: Path) -> None:
    assert data_folder(str(tmp_path / "x y")) == tmp_path / "x y"


def test_a_root_with_a_variable_that_is_not_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)

    for root in ("$NOT_SET_ANYWHERE/x", "${NOT_SET_ANYWHERE}"):
        with pytest.raises(InvalidInputError, match=r"NOT_SET_ANYWHERE.*is not set"):
            data_folder(root)
