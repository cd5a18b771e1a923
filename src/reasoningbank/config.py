"""Settings, and the only place that reads environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, Field

from reasoningbank.address import ServerAddress
from reasoningbank.errors import InvalidInputError
from reasoningbank.validation import validated

# The environment variables, by what they say: REASONINGBANK_ROOT the root, and so on.
FROM_ENVIRONMENT = ("root", "tenant", "project", "embedder", "shared", "person", "settings", "mcp_token")
ENVIRONMENT = {name: f"REASONINGBANK_{name.upper()}" for name in FROM_ENVIRONMENT}

VECTORS = r"^(kept|server|auto|(qdrant|milvus)(\+https?)?://\S+)$"


def _holdout(given: float | str) -> float | str:
    if given:
        from reasoningbank.search.holdout import as_holdout

        as_holdout(given)
    return given


class Settings(BaseModel, frozen=True, extra="forbid"):
    """How a bank behaves. Every field has a default that suits one machine.

    Attributes:
        floor: confidence at or above which a memory is proven, in [0, 1].
        lesson_cost: what handing out one lesson costs, in tokens and distraction, as a share of what one that helps is
            worth; `recall` leaves out what would add less, in [0, 1].
        holdout: the share of runs from which lessons are withheld, so that `lift` can say what lessons do; "memory" or
            "memory:SHARE" withholds single ones. 0 withholds nothing.
        confidence_model: how evidence becomes belief.
        durability: "normal" survives a killed process; "full" also a power loss (each write waits for the disk).
        vectors: where they are searched. "kept": in this process, which reads them all at its first search; "server":
            by a PostgreSQL server that was set up for it (`server init --vectors`), every time; "auto": by such a
            server for the first searches of a process in a project of thousands, and then in the process. Or the
            address of a vector engine that holds them: "qdrant://HOST:PORT" or "milvus://HOST:PORT" (see
            docs/guides/vector-engines.md).
        busy_timeout: seconds to wait for another writer before BusyError.
        keep_days: days a signal log segment is kept before it is rolled up.
        episode_ttl_hours: hours after which an open episode expires as unknown.
        duplicate_similarity: cosine above which a new memory is reported as a possible duplicate.
        failure_recalls: how often one run is handed something at a failure.
        failure_tokens: what is handed out at one failure, in tokens of the prompt block.
        pin_tokens: what pinned memories may take of the prompt block, beside the tokens of a recall; 0 shows none.
        half_life_days: days without use after which a memory's freshness is half; it counts a fifth of the ranking.
            None leaves it out.
        max_memories: the most memories in service; `prune` and `maintain` archive the least worthy above it. None for
            any number.
        auto_suggest: `maintain` suggests links, at most once a day. It sets none.
        auto_consolidate: `maintain` merges duplicates, at most once a day.
        auto_prune: `maintain` archives what `prune` proposes.
        keep_trajectories: keep the steps of runs with their episodes.
        trajectory_limit: characters that are kept of one run.
        scrub_rules: a file of rules for secrets (see docs/guides/security.md), beside the built-in ones.
        trajectory_days: days after which the steps of a run are deleted; the episode stays.
    """

    floor: float = Field(default=0.7, ge=0.0, le=1.0)
    lesson_cost: float = Field(default=0.002, ge=0.0, le=1.0)
    holdout: Annotated[float | str, AfterValidator(_holdout)] = 0.0
    confidence_model: Literal["calibrated", "spec", "ema"] = "calibrated"
    durability: Literal["normal", "full"] = "normal"
    vectors: Annotated[str, Field(pattern=VECTORS)] = "auto"
    busy_timeout: float = Field(default=10.0, gt=0.0, le=600.0)
    keep_days: int = Field(default=30, ge=1, le=36_500)
    episode_ttl_hours: float = Field(default=24.0, gt=0.0, le=876_000.0)
    duplicate_similarity: float = Field(default=0.92, gt=0.0, le=1.0)
    failure_recalls: int = Field(default=3, ge=0)
    failure_tokens: int = Field(default=300, ge=0)
    pin_tokens: int = Field(default=200, ge=0)
    half_life_days: float | None = Field(default=None, gt=0.0, le=36_500.0)
    max_memories: int | None = Field(default=None, ge=1)
    auto_suggest: bool = True
    auto_consolidate: bool = False
    auto_prune: bool = False
    keep_trajectories: bool = False
    trajectory_limit: int = Field(default=200_000, ge=1)
    scrub_rules: str | None = None
    trajectory_days: float = Field(default=30.0, gt=0.0, le=36_500.0)

    @classmethod
    def of(cls, given: Settings | Mapping[str, Any] | None) -> Settings:
        """Return settings from settings, a dictionary, or nothing.

        InvalidInputError for an unknown key (the nearest known one is named) or a value of the wrong type.
        """
        return given if isinstance(given, Settings) else validated(cls, {} if given is None else given)

    @property
    def changed(self) -> dict[str, Any]:
        """Those that are not as they are by default."""
        return {name: value for name, value in self if value != type(self).model_fields[name].default}


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what the environment says of scope, embedder, settings and MCP token; empty variables count as unset.

    Only the command line and the servers use this: in Python, scope is always an argument.
    """
    return {key: environ[name] for key, name in ENVIRONMENT.items() if environ.get(name)}


def engine_key(kind: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the key of the vector engines of a kind (`QDRANT_API_KEY`): a setting is shown, so none stands in one."""
    return environ.get(f"{kind.upper()}_API_KEY") or None


def without_telemetry(environ: MutableMapping[str, str] = os.environ) -> None:
    """Keep the library that runs local models from sending its use to its maker, unless the user wants that."""
    environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def editor(environ: Mapping[str, str] = os.environ) -> str:
    """Return the command of the user's editor."""
    return environ.get("VISUAL") or environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")


def data_root(root: str | os.PathLike[str] | ServerAddress | None) -> Path | ServerAddress:
    """Return where the data is: a server by its address (`postgresql://…`), or a folder as `data_folder` gives it."""
    server = ServerAddress.of(root)
    return data_folder(root) if server is None else server  # type: ignore[arg-type]


def data_folder(root: str | os.PathLike[str] | None) -> Path:
    """Return the absolute root folder: the one given (`~` and `$VARIABLES` expanded), or the user's data folder."""
    if root is None:
        return Path(platformdirs.user_data_dir("reasoningbank", appauthor=False))
    text = os.fspath(root)
    if not text.strip():
        raise InvalidInputError("root is empty: give a folder, or None for the user's data folder")
    expanded = os.path.expandvars(text)
    if unset := re.search(r"\$\w+|\$\{\w+\}", expanded):
        raise InvalidInputError(f"root {text!r} names {unset[0]}, which is not set: set it, or give the folder itself")
    try:
        return Path(expanded).expanduser().absolute()
    except RuntimeError:
        raise InvalidInputError(f"root {text!r} is in the home of a user that is not known here") from None


def bus_folder() -> Path:
    """Return the folder for the keys of this user's banks on the bus, and for whom they trust."""
    return Path(platformdirs.user_config_dir("reasoningbank", appauthor=False)) / "bus"


def model_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for downloaded models: that of `FASTEMBED_CACHE_PATH`, or one in the user's cache folder.

    fastembed's own default is the temporary folder, which is emptied when the machine likes.
    """
    given = environ.get("FASTEMBED_CACHE_PATH")
    return Path(given) if given else Path(platformdirs.user_cache_dir("reasoningbank", appauthor=False)) / "models"
