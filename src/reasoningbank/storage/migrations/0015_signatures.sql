-- The errors that a memory answers, as people read them; '' where nobody has looked for them in its text yet.
ALTER TABLE memories ADD COLUMN signatures TEXT NOT NULL DEFAULT '';

-- The keys of those errors: exact, or with slots for numbers, ids and files.
CREATE TABLE signature_keys(
    key TEXT NOT NULL,
    memory INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    PRIMARY KEY (key, memory)
) WITHOUT ROWID;
CREATE INDEX signature_keys_by_memory ON signature_keys(memory);

-- However a memory is deleted, its keys go with it.
CREATE TRIGGER signatures_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM signature_keys WHERE memory = old.n;
END;

-- At which failure of the run a memory was handed out; 0 before the task.
ALTER TABLE served ADD COLUMN step INTEGER NOT NULL DEFAULT 0;

-- Failures of runs at which something was handed out, and what came of them.
CREATE TABLE failed_acts(
    ref TEXT NOT NULL,
    step INTEGER NOT NULL,
    at TEXT NOT NULL,
    keys TEXT NOT NULL,
    act TEXT NOT NULL,
    acts INTEGER NOT NULL DEFAULT 0,
    settled TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (ref, step)
) WITHOUT ROWID;
