"""The neural bus: banks that share no database exchange lessons and evidence (extra `bus`).

Its protocol is in docs/reference/bus-protocol.md.
"""

from reasoningbank.bus.bus import Bus, BusStatus
from reasoningbank.bus.frames import Decoder, Frame, FrameType, Header, StreamRole, decode, encode
from reasoningbank.bus.identity import Identity
from reasoningbank.bus.intents import Grant, Nonces, Refusal, check, permits, signed
from reasoningbank.bus.node import Node, Options
from reasoningbank.bus.store import BankStore
from reasoningbank.bus.trust import Peer, TrustFile

__all__ = [
    "BankStore",
    "Bus",
    "BusStatus",
    "Decoder",
    "Frame",
    "FrameType",
    "Grant",
    "Header",
    "Identity",
    "Node",
    "Nonces",
    "Options",
    "Peer",
    "Refusal",
    "StreamRole",
    "TrustFile",
    "check",
    "decode",
    "encode",
    "permits",
    "signed",
]
