"""Commands of the neural bus: keys, peers, taking part, and how that goes."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank.cli.arguments import UsageError
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import counts, line, sentence, shown
from reasoningbank.config import bus_folder

if TYPE_CHECKING:
    from reasoningbank.bus import Bus, Identity, Peer, TrustFile

app = typer.Typer(name="bus", help="Exchange lessons with banks that share no database.", cls=Group)
trust_app = typer.Typer(name="trust", help="Whose lessons are taken, and how many a day.", cls=Group)
app.add_typer(trust_app)

Keys = Annotated[
    Path | None, typer.Option("--keys", metavar="FOLDER", help="Where keys and peers are kept, if not with the user's.")
]
KeyName = Annotated[str, typer.Option("--name", help="What to call it: a-z, 0-9, _ and -.")]
As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Which of your keys; a project always uses the same one.")
]
Scope = Literal["read", "write", "admin"]
Listen = Annotated[str, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen; port 0: any.")]
Address = Annotated[str, typer.Option("--peer", metavar="HOST:PORT", help="Where the peer listens.")]


def _identity(keys: Path | None, name: str | None) -> Identity:
    from reasoningbank.bus import Identity
    from reasoningbank.bus.identity import checked_name

    folder = keys or bus_folder()
    if name is None:
        there = sorted(path.stem for path in folder.glob("*.key"))
        if len(there) != 1:
            hint = f"say which: --as {'|'.join(there)}" if there else "make one: reasoningbank bus keygen --name NAME"
            raise UsageError(f"{len(there) or 'no'} keys are in {folder}; {hint}")
        name = there[0]
    return Identity.load(folder / f"{checked_name(name)}.key")


def _trusted(keys: Path | None) -> TrustFile:
    from reasoningbank.bus import TrustFile

    return TrustFile((keys or bus_folder()) / "trust.json")


@command(app, "keygen", scope=())
def keygen(session: Session, *, name: KeyName = "bank", keys: Keys = None) -> Answer:  # noqa: ARG001
    """Make a key for a project, and print what others need to trust it. The secret half stays in its file."""
    from reasoningbank.bus import Identity

    identity = Identity.generate(name)
    path = (keys or bus_folder()) / f"{identity.name}.key"
    identity.save(path)
    said = f"{identity.kid}\nOthers trust it with: reasoningbank bus trust add {identity.kid} --name {name}"
    return Answer({"name": name, "key": identity.kid, "file": str(path)}, said)


# -- peers -------------------------------------------------------------------------------------------------------------


@command(trust_app, "add", scope=())
def trust_add(
    session: Session,  # noqa: ARG001
    key: Annotated[str, typer.Argument(metavar="PUBLIC_KEY", help="What `bus keygen` printed there.")],
    *,
    name: KeyName,
    scope: Annotated[
        Scope, typer.Option("--scope", help="read: it gets lessons; write: it also brings some.")
    ] = "write",
    cap: Annotated[
        str,
        typer.Option("--cap", metavar="CAPS", help="The most a day: memories=500/day,signals=20000/day,bytes=50MB/day"),
    ] = "",
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Its lessons count as yours; else they take one place of a result.")
    ] = False,
    address: Annotated[str | None, typer.Option("--address", metavar="HOST:PORT", help="Where it listens.")] = None,
    keys: Keys = None,
) -> Answer:
    """Trust a key, or change what its owner may do. What it brings is of the source bus:NAME."""
    from reasoningbank.bus import Peer
    from reasoningbank.bus.bus import address_of
    from reasoningbank.bus.identity import checked_key
    from reasoningbank.bus.trust import read_caps

    if address is not None:
        address_of(address)
    peer = Peer(name, checked_key(key), scope, read_caps(cap), trusted, address)
    is_new = _trusted(keys).add(peer)
    return Answer({"new": is_new} | asdict(peer), f"{'Trusted' if is_new else 'Changed'}: {_described(peer)}")


@command(trust_app, "list", scope=())
def trust_list(session: Session, *, keys: Keys = None) -> Answer:  # noqa: ARG001
    """List the keys that are trusted."""
    peers = _trusted(keys).peers()
    lines = [_described(peer) for peer in peers] or ["Nobody is trusted yet; `bus trust add` does that."]
    return Answer({"peers": [asdict(peer) for peer in peers]}, "\n".join(lines))


@command(trust_app, "remove", scope=())
def trust_remove(
    session: Session,  # noqa: ARG001
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called here.")],
    *,
    keys: Keys = None,
) -> Answer:
    """Trust a key no more. What it brought stays; `forget bus:NAME` takes that back."""
    peer = _trusted(keys).remove(name)
    return Answer(
        asdict(peer), f"Not trusted any more: {peer.name}. `forget bus:{peer.name}` takes back what it brought."
    )


def _described(peer: Peer) -> str:
    from reasoningbank.bus.trust import cap_text

    parts = [
        peer.scope,
        "trusted" if peer.trusted else "untrusted",
        cap_text(peer.caps) or "no caps",
        peer.address or "",
    ]
    return f"{peer.name} {peer.key} ({', '.join(filter(None, parts))})"


# -- taking part -------------------------------------------------------------------------------------------------------


@command(app, "serve", with_json=False, begins=True)
def serve(
    session: Session,
    *,
    listen: Listen = "127.0.0.1:4444",
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="HOST:PORT", help="Where a peer listens; may be repeated. Others are learned."),
    ] = None,
    name: As = None,
    keys: Keys = None,
    fanout: Annotated[int, typer.Option("--fanout", min=1, max=32, help="How many peers are told of news.")] = 3,
    period: Annotated[
        float,
        typer.Option("--period", min=0.1, max=3600.0, help="Seconds between two rounds; what is lost waits so long."),
    ] = 1.0,
) -> Answer:
    """Exchange lessons and evidence with the peers that are trusted, until Ctrl-C (extra: bus)."""
    from reasoningbank.bus import Bus, Options

    logging.basicConfig(stream=sys.stderr, level="WARNING")
    logging.getLogger("quic").setLevel(logging.ERROR)
    identity, peers = _identity(keys, name), _trusted(keys).peers()
    if not peers:
        raise UsageError("nobody is trusted yet: reasoningbank bus trust add PUBLIC_KEY --name NAME")
    options = Options(fanout=fanout, period_ms=round(period * 1000))
    bus = Bus(session.bank, identity, peers, listen=listen, seeds=peer or (), options=options)
    asyncio.run(_served(bus))
    return Answer({})


async def _served(bus: Bus) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - it runs in one
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        async with bus:
            typer.echo(f"On the bus at {bus.address} as {bus.identity.kid}; Ctrl-C ends it.", err=True)
            await bus.run()


@command(app, "sync", begins=True)
def sync(
    session: Session,
    *,
    peer: Address,
    name: As = None,
    keys: Keys = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1.0, help="Seconds that it may take.")] = 300.0,
) -> Answer:
    """Exchange everything with one peer, once (extra: bus)."""
    from reasoningbank.bus import Bus

    logging.getLogger("quic").setLevel(logging.ERROR)
    bus = Bus(session.bank, _identity(keys, name), _trusted(keys).peers())

    async def run() -> int:
        async with bus:
            with session.progress("Exchanging") as progress:
                return await bus.sync(peer, seconds=timeout, progress=progress)

    came = asyncio.run(run())
    refused = dict(bus.node.refusals.counts)
    said = f"{came:,} changes came from {peer}."
    if refused:
        said += f" Refused: {counts(refused)}; the last: {bus.node.refusals.last[-1][1]}."
    return Answer({"peer": peer, "changes": came, "refused": refused}, said)


@command(app, "status")
def status(session: Session, *, name: As = None, keys: Keys = None) -> Answer:
    """Show the peers, how far each one's changes are here, what was taken of them today, and what was refused."""
    identity = _identity(keys, name)
    origins = {each.origin: each for each in session.bank.replication.status()}
    rows = []
    for peer in _trusted(keys).peers():
        known = origins.pop(peer.key, None)
        row: dict[str, Any] = asdict(peer) | {"have": 0, "lag": 0, "spent": {}, "refused": {}}
        if known is not None:
            lag = max(0, known.newest - known.have)
            row |= {"have": known.have, "lag": lag, "spent": dict(known.spent), "refused": dict(known.refused)}
        rows.append(row)
    mine = origins.pop(identity.kid, None)
    strangers = origins.pop("others", None)
    value = {
        "key": identity.kid,
        "told": 0 if mine is None else mine.have,
        "peers": rows,
        "former": [each.name for each in origins.values()],
        "refused": {} if strangers is None else dict(strangers.refused),
    }
    return Answer(value, _status)


def _status(console: Console, found: Mapping[str, Any]) -> None:
    sentence(console, f"This project speaks as {found['key']}, and told {found['told']:,} changes.")
    for row in found["peers"]:
        behind = f"{row['lag']:,} behind" if row["lag"] else "up to date"
        line(
            console, Text.assemble((shown(row["name"]), "bold"), f"  {row['have']:,} changes, {behind}, {row['scope']}")
        )
        if row["spent"]:
            of = {
                what: f"{many:,}" + (f" of {row['caps'][what]:,}" if what in row["caps"] else "")
                for what, many in row["spent"].items()
            }
            sentence(console, "  today: " + ", ".join(f"{what} {many}" for what, many in of.items()))
        if row["refused"]:
            sentence(console, f"  refused today: {counts(row['refused'])}")
    if not found["peers"]:
        sentence(console, "Nobody is trusted yet; `bus trust add` does that.")
    if found["former"]:
        sentence(console, f"Not trusted any more: {', '.join(map(shown, found['former']))}.")
    if found["refused"]:
        sentence(console, f"Refused today, of nobody known: {counts(found['refused'])}.")
