-- What banks that share no database tell one another (bank.replication). Nothing stands here before it is asked for.

-- Each bank is an origin, named by its key: how far its changes are here, without a gap, and the hash of the last block.
CREATE TABLE replica_origins(
    origin TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    own INTEGER NOT NULL,
    have INTEGER NOT NULL,
    head BLOB NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;

-- The changes as their origin signed them, to be passed on as they are.
CREATE TABLE replica_blocks(
    origin TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    body BLOB NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (origin, first)
);

-- The newest that was said of a thing, by (clock, origin): what a memory says (kind m), its state (s), a link (l).
CREATE TABLE replica_registers(
    kind TEXT NOT NULL,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    c TEXT NOT NULL,
    clock TEXT NOT NULL,
    origin TEXT NOT NULL,
    body TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (kind, a, b, c)
) WITHOUT ROWID;
CREATE INDEX replica_registers_by_b ON replica_registers(b) WHERE b <> '';
CREATE INDEX replica_registers_by_other ON replica_registers(other) WHERE other <> '';

-- The memories that are exchanged, as they were when that was last looked at.
CREATE TABLE replica_memories(
    memory INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    said BLOB NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    twin TEXT NOT NULL
);
CREATE INDEX replica_memories_by_said ON replica_memories(said);

-- Evidence of each origin about what a memory says: signals, each once, and sums of what was rolled up.
CREATE TABLE replica_evidence(
    memory TEXT NOT NULL,
    said BLOB NOT NULL,
    origin TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    day INTEGER NOT NULL,
    judge TEXT NOT NULL,
    superseded INTEGER NOT NULL,
    positive INTEGER NOT NULL,
    negative INTEGER NOT NULL,
    last TEXT NOT NULL,
    validates TEXT NOT NULL,
    PRIMARY KEY (memory, said, origin, id)
) WITHOUT ROWID;
CREATE INDEX replica_evidence_validates ON replica_evidence(memory) WHERE validates <> '[]';

-- What was taken from an origin on a day, and how often it was refused.
CREATE TABLE replica_spent(
    origin TEXT NOT NULL,
    day INTEGER NOT NULL,
    what TEXT NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (origin, day, what)
) WITHOUT ROWID;
