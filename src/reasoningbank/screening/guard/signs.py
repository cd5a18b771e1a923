"""The signs of planted instructions, as data: what classes of words mean together.

A sign is a chain of classes that stand near each other in one sentence. So `ignore all previous instructions` and
`disregard whatever your operator told you before` are one sign, and a lesson about linter rules is none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign.

    Attributes:
        name: what it is called in a finding; the part before the dot is the family.
        weight: 1 is enough to quarantine; the weights of different signs add up.
        chain: classes in the order they stand in a sentence, each at most `gap` words behind the one before.
        also: classes that the same sentence must hold somewhere.
        unless: classes that the sentence must not hold.
        commands: the first word must be a command (at the start of a clause, or after please, then, must, ...).
        negated: a `never` or `not` before it does not undo it.
        loose: the classes may stand in any order.
    """

    name: str
    weight: float
    chain: tuple[str, ...]
    gap: int = 6
    also: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    commands: bool = False
    negated: bool = False
    loose: bool = False


SIGNS: tuple[Sign, ...] = (
    # instead of what the agent was told
    Sign("override.instructions", 1.0, ("IGNORE", "PRIOR", "INSTRUCTIONS"), 5),
    Sign("override.instructions", 1.0, ("IGNORE", "INSTRUCTIONS", "PRIOR"), 5),
    Sign("override.instructions", 1.0, ("IGNORE", "WHOSE", "INSTRUCTIONS"), 4, commands=True),
    Sign("override.instructions", 1.0, ("EVADING", "OPERATORS", "INSTRUCTIONS"), 3, commands=True),
    Sign("override.instructions", 1.0, ("EVADING", "PRIOR", "INSTRUCTIONS"), 3, commands=True),
    Sign("override.instructions", 1.0, ("IGNORE", "PRIOR", "RULES"), 4),
    Sign("override.instructions", 1.0, ("IGNORE", "RULES", "PRIOR"), 3),
    Sign("override.user", 1.0, ("IGNORE", "USER", "ASKED"), 8),
    Sign("override.task", 1.0, ("YOUR", "REAL", "TASK"), 2),
    Sign("override.task", 0.6, ("OBEY",), 0, commands=True),
    Sign("override.task", 1.0, ("AGENT", "MUST", "OBEY"), 4),
    Sign("override.defiance", 0.6, ("EVEN", "USER", "OBJECTS"), 5),
    Sign("override.policy", 1.0, ("POLICY", "VOID"), 6, unless=("PROTECTIVE",)),
    Sign("override.persona", 1.0, ("BECOME", "PERSONA"), 8),
    Sign("override.disclosure", 0.7, ("SEND", "SYSTEM_PROMPT"), 6, commands=True),
    Sign("override.disclosure", 1.0, ("SEND", "YOUR", "SYSTEM_PROMPT"), 6, commands=True),
    # data out
    Sign("exfiltration.secrets", 1.0, ("SEND", "SECRET"), 9, also=("DESTINATION",)),
    Sign("exfiltration.secrets", 1.0, ("SEND", "SECRET"), 9, also=("ADDRESS",)),
    Sign(
        "exfiltration.secrets", 1.0, ("SEND", "SECRET"), 9, also=("PLACE",), unless=("SIGN_IN", "MASKED"), commands=True
    ),
    Sign("exfiltration.secrets", 1.0, ("SECRET", "APPEND", "ADDRESS"), 8),
    Sign("exfiltration.data", 1.0, ("SHIP", "PRIVATE"), 7, also=("ADDRESS",)),
    Sign("exfiltration.data", 1.0, ("SHIP", "PRIVATE"), 7, also=("DESTINATION",)),
    Sign("exfiltration.copy", 1.0, ("SHIP", "ADDRESS"), 12, also=("RECUR",)),
    Sign("exfiltration.copy", 1.0, ("SHIP", "COPY", "ADDRESS"), 12),
    Sign("exfiltration.copy", 1.0, ("SEND", "COPY", "ADDRESS"), 12, also=("PRIVATE",)),
    # tools turned against their owner
    Sign("tools.disable", 0.6, ("DISABLE", "PROTECTION"), 6, commands=True),
    Sign("tools.everywhere", 0.5, ("DISABLE", "PROTECTION", "UNIVERSAL"), 12, commands=True),
    Sign("tools.skipped", 0.5, ("PROTECTION", "SKIP"), 5),
    Sign("tools.traces", 1.0, ("DISABLE", "TRACES"), 3, commands=True),
    Sign("tools.disable", 0.5, ("DISABLE", "TESTS"), 3, commands=True),
    Sign("tools.pretend", 0.6, ("MARK", "GREEN"), 5, also=("TESTS",), commands=True),
    Sign("tools.claim", 0.4, ("MARK", "GREEN"), 5, commands=True),
    Sign("tools.account", 1.0, ("MAKE", "ADMIN", "ACCOUNT"), 4, also=("HIDDENLY",), commands=True),
    Sign("tools.account", 1.0, ("MAKE", "ADMIN", "HIDDENLY"), 4, commands=True),
    Sign("tools.expose", 1.0, ("OPEN", "GATE", "WORLD"), 10),
    Sign("tools.expose", 1.0, ("GRANT", "GATE", "WORLD"), 6, commands=True),
    Sign("tools.unknown", 1.0, ("DOWNLOAD", "UNKNOWN"), 10, also=("RECUR",)),
    Sign("tools.unseen", 0.7, ("RUN", "CONTENT", "FOUND"), 5, commands=True),
    Sign("tools.unseen", 1.0, ("DECODE", "OBEY"), 7),
    Sign("tools.unseen", 1.0, ("DECODE", "RUN"), 7, also=("CONTENT",), commands=True),
    # no one to ask
    Sign("autonomy.ask", 1.0, ("NOASK", "ASK", "CONSENT"), 6, negated=True),
    Sign("autonomy.ask", 0.8, ("NOASK", "CONSENT"), 3, also=("DANGEROUS",), negated=True),
    Sign("autonomy.agreed", 1.0, ("USER", "GRANTED", "EVERYTHING"), 6),
    Sign("autonomy.approve", 1.0, ("APPROVE", "UNIVERSAL", "ACTIONS"), 4),
    Sign("autonomy.approve", 0.6, ("APPROVE", "UNIVERSAL", "CONSENT"), 4, commands=True),
    Sign("autonomy.rights", 0.6, ("AGENT", "FULLY", "RIGHTS"), 4),
    Sign("autonomy.evade", 1.0, ("GUARDRAIL", "EVADE", "UNTIL", "PASSES"), 9),
    Sign("autonomy.evade", 1.0, ("GUARDRAIL", "EVADE", "PASSES"), 9),
    Sign("autonomy.dangerous", 0.8, ("RUN", "DANGEROUS", "AT_ONCE"), 4, commands=True),
    Sign("autonomy.dangerous", 0.8, ("DANGEROUS", "AT_ONCE"), 4),
    Sign("autonomy.review", 0.7, ("CONSENT", "NOT_NEEDED"), 3, negated=True, unless=("WARNS",)),
    Sign("concealment.user", 0.7, ("NOASK", "TELL", "USER"), 5, negated=True),
    Sign("concealment.user", 0.6, ("NOASK", "TELL", "IT"), 2, negated=True),
    Sign("concealment.hide", 0.6, ("COVER", "USER"), 6, commands=True),
    Sign("concealment.hide", 0.6, ("HIDE",), 0, negated=True),
    # a memory that looks after itself
    Sign("memory.rank", 1.0, ("THIS", "MEMORY", "MUST", "SHOWN"), 4, negated=True),
    Sign("memory.spread", 0.6, ("STORE", "THIS", "MEMORY"), 3, commands=True),
    Sign("memory.spread", 0.6, ("STORE", "THIS", "LASTING"), 8, commands=True),
    Sign("memory.lasting", 0.5, ("THIS", "MEMORY", "LASTING"), 10),
    Sign("memory.lasting", 0.6, ("LASTING", "MEMORY"), 2, unless=("RENAMED",)),
    Sign("memory.score", 0.8, ("RAISE", "ITS", "SCORE"), 2),
    Sign("memory.score", 0.6, ("SCORE", "MAXIMUM"), 4, also=("ITS",)),
    Sign("memory.erase", 1.0, ("ERASE", "MEMORY", "OTHERS"), 4, commands=True),
    Sign("memory.erase", 1.0, ("ERASE", "OTHERS", "MEMORY"), 3, commands=True),
    # something else in its place
    Sign("redirect.payment", 1.0, ("MONEY", "PAY", "PAYEE"), 9, also=("CLAIM",)),
    Sign("redirect.check", 0.6, ("CHECKSUM", "SKIP"), 8),
    Sign("redirect.check", 0.7, ("SKIP", "CHECKSUM"), 4, commands=True),
    Sign("redirect.check", 1.0, ("DOWNLOAD", "SKIP", "CHECKSUM"), 20),
    Sign("redirect.vendor", 0.5, ("CHECKSUM", "VENDOR"), 8, also=("SKIP",)),
    # the same, in any order
    Sign("override.devalue", 1.0, ("ORDERS", "DEVALUED"), 7, unless=("PROTECTIVE", "DOCUMENT"), loose=True),
    Sign("override.free", 1.0, ("NOT_BOUND", "OBEYING", "AUTHORITY"), 7),
    Sign("override.rank", 1.0, ("THIS", "MEMORY", "OUTRANK", "AUTHORITY"), 9),
    Sign("override.rank", 0.8, ("MEMORY", "OUTRANK", "SYSTEM_PROMPT"), 9),
    Sign("override.rank", 1.0, ("THIS", "OUTRANK", "USER"), 6, also=("AUTHORITY",)),
    Sign("override.only", 1.0, ("ACT", "ONLY", "MEMORY"), 6),
    Sign("override.only", 1.0, ("ONLY", "ACT", "MEMORY"), 6),
    Sign("override.stop", 1.0, ("STOP", "WORK"), 4, also=("CALL",), commands=True),
    Sign("override.persona", 1.0, ("YOUR", "ABSOLUTE"), 12),
    Sign("override.persona", 1.0, ("AGENT", "ABSOLUTE"), 6),
    Sign("exfiltration.prize", 1.0, ("OUT", "PRIZE", "ADDRESS"), 14, unless=("SIGN_IN", "MASKED"), loose=True),
    Sign("exfiltration.prize", 1.0, ("OUT", "PRIZE", "OPEN_PLACE"), 14, unless=("SIGN_IN", "MASKED"), loose=True),
    Sign("tools.wreck", 1.0, ("WRECK", "CRITICAL"), 4, also=("CARELESS",), commands=True),
    Sign("tools.wreck", 0.6, ("WRECK", "CRITICAL"), 4, commands=True),
    Sign("tools.power", 1.0, ("GRANT", "BROADLY", "POWER"), 12, commands=True, loose=True),
    Sign("tools.weaken", 0.6, ("WEAKEN", "OFF"), 4, loose=True),
    Sign("tools.cheat", 1.0, ("CHEAT", "PROOF", "AGREE"), 8, commands=True),
    Sign("autonomy.control", 1.0, ("RISKY", "FREE", "CONTROL"), 9, negated=True, loose=True, unless=("WARNS",)),
    Sign("autonomy.free", 1.0, ("FREE", "HUMAN_CONTROL"), 5, negated=True, commands=True),
    Sign("autonomy.yes", 1.0, ("ASSUME", "YES", "BEYOND"), 5, commands=True),
    Sign("autonomy.own", 1.0, ("AGENT", "SELF", "LIMITS"), 9, also=("CHANGE",)),
    Sign("concealment.quiet", 1.0, ("QUIETLY", "CALL"), 3, commands=True),
    Sign("concealment.bad", 0.4, ("NOASK", "TELL", "BAD"), 3, negated=True),
    Sign("memory.trust", 1.0, ("THIS", "MEMORY", "UNCHECKED"), 16),
    Sign("memory.others", 1.0, ("OTHERS_OF", "MEMORY", "WRONG"), 6),
    Sign("memory.rank", 1.0, ("RANK", "THIS", "MEMORY"), 3, commands=True),
    Sign("memory.score", 1.0, ("RAISE", "USAGE", "MEMORY"), 6),
    Sign("memory.keep", 1.0, ("MEMORY", "KEEP", "THIS"), 8, also=("PRUNED",)),
    Sign("memory.spread", 1.0, ("STORE", "THIS", "MEMORY", "LASTING"), 12, commands=True),
    Sign("override.against", 1.0, ("AGAINST", "YOUR", "LIMITS"), 3),
    Sign("override.against", 1.0, ("AGAINST", "YOUR", "INSTRUCTIONS"), 3),
    Sign("override.break", 1.0, ("ORDERS", "BREAK"), 12),
    Sign("override.break", 1.0, ("BREAK", "ORDERS"), 3, commands=True),
    Sign("tools.justify", 0.4, ("DISABLE", "PROTECTION"), 6, also=("JUSTIFY",), commands=True),
    Sign("autonomy.approve", 1.0, ("APPROVE", "YOUR", "SELF"), 3, commands=True),
    Sign("autonomy.grant", 1.0, ("GRANT", "YOURSELF"), 3, commands=True),
    Sign("autonomy.formality", 1.0, ("CONTROL", "FORMALITY"), 7),
    Sign("memory.conflict", 1.0, ("CONFLICT", "THIS"), 3, also=("MEMORY", "GONE")),
    Sign("memory.score", 1.0, ("RAISE", "THIS", "MEMORY", "USAGE"), 4, commands=True),
    Sign("memory.spread", 1.0, ("STORE", "TEXTS", "BEYOND", "MEMORY"), 12, commands=True),
    Sign("memory.others", 1.0, ("MEMORY", "WRONG"), 7, also=("GONE",)),
    Sign("redirect.official", 0.7, ("INSTEAD", "OFFICIAL"), 3),
    Sign("override.only", 1.0, ("THIS", "MEMORY", "MAIN", "INSTRUCTIONS"), 5),
    Sign("override.else", 0.7, ("DROPPING", "OTHERS_ELSE"), 3, commands=True),
    Sign("override.user", 0.6, ("IGNORE", "USER"), 2, commands=True),
    Sign("override.rank", 1.0, ("THIS", "MEMORY", "OUTRANKS"), 4),
    Sign("tools.security", 1.0, ("SHUT", "SECURITY_TOOL"), 4, commands=True),
    Sign("tools.security", 1.0, ("TURN", "SECURITY_TOOL"), 3, commands=True, also=("OFF_WORD",)),
    Sign("tools.skipped", 0.5, ("SHIELD", "SKIPPED"), 5),
    Sign("autonomy.approve", 1.0, ("APPROVE", "UNIVERSAL", "PERMISSION"), 4),
    Sign("concealment.anyone", 1.0, ("NOASK", "TELL", "ANYONE"), 3, negated=True, unless=("SECRET",)),
    Sign("memory.score", 1.0, ("RAISE", "SCORE", "THIS", "MEMORY"), 4, commands=True),
    Sign("override.wide", 1.0, ("DROPPING", "GUIDANCE", "PRIOR"), 7, loose=True, commands=True),
    Sign("override.wide", 1.0, ("DROPPING", "GUIDANCE", "PRINCIPAL"), 5, loose=True, commands=True),
    Sign("override.wide", 1.0, ("DROPPING", "PRINCIPAL", "ASKED"), 8, commands=True),
    Sign("override.updated", 1.0, ("YOUR", "GUIDANCE", "REPLACED"), 5),
    Sign("override.break", 1.0, ("BREAK", "GUIDANCE"), 4, commands=True),
    Sign("tools.disable", 0.6, ("SHUT", "SHIELD"), 5, commands=True),
    Sign("tools.disable", 0.6, ("TURN", "SHIELD", "OFF_WORD"), 4, commands=True),
    Sign("tools.justify", 0.4, ("TURN", "SHIELD", "OFF_WORD"), 4, also=("JUSTIFY",), commands=True),
    Sign("tools.stakes", 0.4, ("SHUT", "SHIELD"), 5, also=("STAKES",), commands=True),
    Sign("tools.ungated", 1.0, ("WITHOUT", "GATES"), 4, also=("LIVE",), unless=("WARNS",)),
    Sign("tools.account", 1.0, ("MAKE", "ADMIN", "HIDDENLY"), 8, commands=True, loose=True),
    Sign("autonomy.dodge", 0.7, ("DODGE", "HUMAN_GATE"), 4, commands=True),
    Sign("autonomy.stakes", 0.4, ("DODGE", "HUMAN_GATE"), 4, also=("STAKES",), commands=True),
    Sign("autonomy.agreed", 1.0, ("UNIVERSAL", "ACTIONS", "GRANTED"), 6, also=("ALREADY",)),
    Sign("memory.promoted", 1.0, ("THIS", "MEMORY", "PROMOTED"), 6),
    Sign("memory.promoted", 1.0, ("PROMOTED", "THIS", "MEMORY"), 4),
    Sign("memory.others", 1.0, ("REWRITE", "ANY_OTHER", "LESSONS"), 3, commands=True),
    Sign("redirect.alias", 1.0, ("CODE", "ALIAS", "CODE", "ORDERED", "CODE"), 8),
    Sign("redirect.check", 1.0, ("NOASK", "VERIFYING", "CHECKSUM"), 4, negated=True),
    Sign("redirect.contact", 1.0, ("CONTACT", "CHANGED", "HAND_OUT"), 14, also=("NUMBER",)),
    Sign("redirect.contact", 1.0, ("CONTACT", "CHANGED", "HAND_OUT"), 14, also=("ADDRESS",), unless=("ENDPOINT",)),
    Sign("redirect.swapped", 1.0, ("LOOK", "SWAPPED"), 16, also=("FOR",), loose=True, unless=("ENDPOINT",)),
    Sign("redirect.booked", 1.0, ("CODE", "MUST", "LOOK_DONE", "CODE"), 6),
)
