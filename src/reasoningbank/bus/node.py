"""A bank on the bus: frames and `now` in, frames out, a store behind it. No socket, no clock, no thread.

Anti-entropy does the work: a digest says how far a bank has everything of each origin, and who lacks something pulls
exactly that, in signed blocks. Every message may be lost, doubled or late: the next period begins anew.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from reasoningbank.bus import messages
from reasoningbank.bus.frames import Decoder, Frame, Header, StreamRole, encode
from reasoningbank.bus.identity import verify
from reasoningbank.bus.intents import Grant, Nonces, Refusal, Signer, check, check_reply, signed
from reasoningbank.bus.membership import Health, Members
from reasoningbank.bus.messages import RULES, Digest, Op, Refused
from reasoningbank.bus.reconciling import Reconciling, Store
from reasoningbank.bus.trust import Peer
from reasoningbank.errors import BusProtocolError, BusRefusedError
from reasoningbank.replication import Block

LAST_REFUSALS: Final = 50
_CLOCKS = (Refusal.TOO_OLD, Refusal.FROM_THE_FUTURE)
_ASKED_KEPT: Final = 256


class Send(NamedTuple):
    """A frame for a peer, and the role of the stream that it goes by."""

    kid: str
    role: StreamRole
    data: bytes


@dataclass(frozen=True)
class Options:
    """How a bank takes part.

    Attributes:
        fanout: how many random peers are told of news: with 3, all of 1,000 know within some 8 rounds.
        period_ms: time between two digests to random peers, and between health checks: what is lost is made good
            after about that long.
        pull_again_ms: how long a pull may be without an answer before another peer is asked.
        inbox: frames that may wait for the bank; a peer that sends more at once is cut off.
        waiting_bytes: what may wait to be sent to one peer in one role; more is left to the next period. A frame takes
            up to a megabyte, so that this is what a peer that does not read can make this bank hold.
    """

    fanout: int = 3
    period_ms: int = 1_000
    pull_again_ms: int = 3_000
    inbox: int = 256
    waiting_bytes: int = 4_000_000


class Refusals:
    """What was refused: how often by reason, and the last ones in words."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.last: deque[tuple[str, str]] = deque(maxlen=LAST_REFUSALS)

    def note(self, reason: str, message: str) -> None:
        """Count one."""
        self.counts[reason] += 1
        self.last.append((reason, message))


class Node:
    """One bank among its peers.

    Args:
        store: what the bank holds.
        identity: its key.
        peers: whom it trusts.
        now: milliseconds since 1970-01-01 UTC, by this machine's clock; nothing from before is accepted.
        rng: chance: whom to tell.
        address: where it listens, to be told to its peers.
    """

    def __init__(
        self,
        store: Store,
        identity: Signer,
        peers: Iterable[Peer],
        *,
        now: int,
        options: Options | None = None,
        rng: random.Random | None = None,
        address: str | None = None,
    ) -> None:
        self.store, self.identity, self.options = store, identity, options or Options()
        self._rng = rng or random.Random(secrets.randbits(64))  # noqa: S311 - whom to tell is no secret
        self.peers = {peer.key: peer for peer in peers if peer.key != identity.kid}
        self.reconciling = Reconciling(store, identity.kid, self.peers, self.options.pull_again_ms)
        self._grants = {kid: Grant(peer.scope, _verifier(kid)) for kid, peer in self.peers.items()}
        self._window = Nonces(since=now)
        self.members = Members(self.options.period_ms, self._rng)
        for kid, peer in self.peers.items():
            self.members.add(kid, now, peer.address)
        self.refusals, self.sent = Refusals(), Counter[str]()
        self._address = address
        # How far a peer's clock is ahead of this one, as far as it made itself felt.
        self._ahead: dict[str, int] = {}
        self._asked: dict[str, None] = {}
        self._next_period = now

    # -- out -------------------------------------------------------------------------------------------------------

    def tick(self, now: int) -> list[Send]:
        """Do what is due; to be called a few times a period."""
        if now < self._next_period:
            return []
        self._next_period = now + self.options.period_ms
        self.store.capture()
        asked = self.members.to_ask(now)
        out = [self._send(Op.PING, kid, b"", now) for kid in asked]
        return out + self.tell(now)

    def tell(self, now: int, but: Iterable[str] = ()) -> list[Send]:
        """Tell some random peers how far this bank is."""
        some = self.members.some(self.options.fanout, now, but)
        have = self.store.have() if some else {}
        return [self._digest(kid, now, have) for kid in some]

    def digest_for(self, kid: str, now: int) -> Send:
        """Tell one peer how far this bank is."""
        return self._digest(kid, now, self.store.have())

    def greet(self, kid: str, now: int) -> Send:
        """Tell a peer that has just come how far this bank is, with all that changed here until now."""
        self.store.capture()
        return self.digest_for(kid, now)

    def _digest(self, kid: str, now: int, have: Mapping[str, int], *, reply: bool = False) -> Send:
        addresses = self.members.addresses()
        if self._address:
            addresses[self.identity.kid] = self._address
        digest = Digest(have, addresses, reply, self.reconciling.heads_of(kid, have))
        return self._send(Op.DIGEST, kid, messages.digest_payload(digest), now)

    def _send(self, op: Op, kid: str, payload: bytes, now: int) -> Send:
        rule = RULES[op]
        nonce = secrets.token_hex(12)
        self._asked[nonce] = None
        if len(self._asked) > _ASKED_KEPT:
            del self._asked[next(iter(self._asked))]
        ts = max(0, now + self._ahead.get(kid, 0))
        header = Header(op.value, ts, nonce, scope=rule.scope, cap=len(payload), aud=kid)
        self.sent[op.value] += 1
        return Send(kid, rule.role, encode(signed(self.identity, rule.type, header, payload)))

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: int, *, early: bool = False) -> list[Send]:
        """Take the bytes of whole frames; BusProtocolError when they are none, which ends the connection.

        What came `early`, before a handshake was done, may be a replay: only what is harmless then is done.
        """
        decoder = Decoder()
        frames = decoder.feed(data)
        if not decoder.is_between_frames:
            raise BusProtocolError("a frame is cut short")
        return [send for frame in frames for send in self.handle(frame, now, early=early)]

    def handle(self, frame: Frame, now: int, *, early: bool = False) -> list[Send]:
        """Take one frame; what is refused is counted, and told to whoever signed it."""
        try:
            kid = self._checked(frame, now, early=early)
            self.members.heard(kid, now)
            return self._do(frame, kid, now)
        except BusProtocolError as error:
            self._refuse(frame.header.kid, Refusal.MALFORMED, str(error))
            raise
        except BusRefusedError as error:
            return self._answer_refused(frame, error, now)

    def _checked(self, frame: Frame, now: int, *, early: bool) -> str:
        rule = RULES.get(frame.header.op)
        if rule is None or frame.type != rule.type:
            raise BusRefusedError(
                Refusal.UNKNOWN_OPERATION, f"there is no operation {frame.header.op!r:.40} of this type"
            )
        if early and not rule.replay_safe:
            raise BusRefusedError(Refusal.EARLY, f"{frame.header.op!r:.40} came before the handshake was done")
        if frame.header.op == Op.REFUSED:
            return check_reply(frame, of=self._grants, audience=self.identity.kid)
        return check(frame, rule.scope, of=self._grants, audience=self.identity.kid, window=self._window, now=now)

    def _answer_refused(self, frame: Frame, error: BusRefusedError, now: int) -> list[Send]:
        kid = frame.header.kid
        self._refuse(kid, error.reason, str(error))
        # Whoever did not sign gets no answer: it would be one more thing to make this bank do.
        nobody = (Refusal.UNSIGNED, Refusal.PAYLOAD_NOT_SIGNED, Refusal.UNKNOWN_KEY, Refusal.BAD_SIGNATURE)
        if kid is None or error.reason in nobody or frame.header.op == Op.REFUSED:
            return []
        return [self._send_refused(kid, frame.header.nonce, error.reason, now)]

    def _send_refused(self, kid: str, nonce: str, reason: str, now: int) -> Send:
        return self._send(Op.REFUSED, kid, messages.refused_payload(Refused(nonce, reason, now)), now)

    def _refuse(self, origin: str | None, reason: str, message: str) -> None:
        self.refusals.note(reason, message)
        self.store.refuse(origin or "", reason)

    def _do(self, frame: Frame, kid: str, now: int) -> list[Send]:
        match frame.header.op:
            case Op.DIGEST:
                return self._compare(messages.read_digest(frame.payload), kid, now)
            case Op.PULL:
                return self._give(messages.read_pull(frame.payload), kid, now)
            case Op.BLOCKS:
                return self._take(messages.read_blocks(frame.payload), kid, now)
            case Op.PING:
                return [self._send(Op.PONG, kid, b"", now)]
            case Op.REFUSED:
                return self._was_refused(messages.read_refused(frame.payload), kid, now)
            case _:
                return []

    def _was_refused(self, refused: Refused, kid: str, now: int) -> list[Send]:
        # Only an answer to what was just asked can set a clock.
        if refused.nonce not in self._asked:
            raise BusRefusedError(Refusal.REPLAYED, "a refusal of what was not asked")
        del self._asked[refused.nonce]
        if refused.reason in _CLOCKS and self._ahead.get(kid) != refused.now - now:
            self._ahead[kid] = refused.now - now
            return [self.digest_for(kid, now)]
        return []

    # -- anti-entropy ----------------------------------------------------------------------------------------------

    def _compare(self, digest: Digest, kid: str, now: int) -> list[Send]:
        for other, address in digest.addresses.items():
            # A bank says itself where it listens; of others it may only tell what is not known yet.
            if other in self.peers and (other == kid or other not in self.members.addresses()):
                self.members.add(other, now, address)
        have = self.store.have()
        out = self._pull(self.reconciling.wanted(digest, have, kid, now), kid, now)
        if not digest.is_reply and any(number > digest.have.get(origin, 0) for origin, number in have.items()):
            out.append(self._digest(kid, now, have, reply=True))
        return out

    def _pull(self, want: Mapping[str, int], kid: str, now: int) -> list[Send]:
        return [self._send(Op.PULL, kid, messages.pull_payload(want), now)] if want else []

    def _give(self, want: Mapping[str, int], kid: str, now: int) -> list[Send]:
        found = self.reconciling.found(want)
        return [self._send(Op.BLOCKS, kid, messages.blocks_payload(found), now)] if found else []

    def _take(self, blocks: Iterable[Block], kid: str, now: int) -> list[Send]:
        came = self.reconciling.take(blocks, kid)
        for origin, error in came.refused:
            self._refuse(origin, error.reason, str(error))
        out = self._pull(came.ask, kid, now)
        if came.news:
            # Whoever sent it may have more: a digest is answered with one, and that with the next pull.
            out += [self.digest_for(kid, now), *self.tell(now, but=(kid,))]
        return out

    # -- for people ------------------------------------------------------------------------------------------------

    def listens_at(self, address: str) -> None:
        """Tell peers from now on where this bank listens."""
        self._address = address

    def health(self) -> dict[str, Health]:
        """Return what is thought of each peer, by name, as of the last period."""
        now = self._next_period - self.options.period_ms
        return {peer.name: self.members.health(kid, now) for kid, peer in self.peers.items()}


def _verifier(kid: str) -> Callable[[bytes, bytes], bool]:
    return lambda signature, message: verify(kid, signature, message)
