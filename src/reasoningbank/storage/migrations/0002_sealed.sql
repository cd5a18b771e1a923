-- What (memory, ref, kind) said in segments that were rolled up: a repeat must not count again, however late it comes.
CREATE TABLE sealed(
    memory INTEGER NOT NULL,
    ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    polarity INTEGER NOT NULL,
    PRIMARY KEY (memory, ref, kind)
) WITHOUT ROWID;

-- The same for usage, of which there is much: it belongs to a memory that was served, which has a row already.
ALTER TABLE served ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;

-- A tally from which something is taken back is summed again from its evidence.
CREATE INDEX evidence_by_day ON evidence(memory, kind, day);
