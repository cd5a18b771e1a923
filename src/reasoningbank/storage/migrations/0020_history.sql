-- What a memory said before it was changed, the first first, with the evidence that counts again when it is put back.
CREATE TABLE revisions(
    memory INTEGER NOT NULL,
    number INTEGER NOT NULL,
    draft TEXT NOT NULL,
    identity BLOB NOT NULL,
    scrub_version INTEGER NOT NULL,
    -- '' where it says what the next one says: then that one has the evidence.
    evidence TEXT NOT NULL,
    reason TEXT NOT NULL,
    judge TEXT NOT NULL,
    written_at TEXT NOT NULL,
    replaced_at TEXT NOT NULL,
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;
CREATE INDEX revisions_by_identity ON revisions(identity);

CREATE TRIGGER revisions_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM revisions WHERE memory = old.n;
END;

-- What was deleted and is not to be learned again: no word of it, but a hash that is keyed by this bank's own key.
CREATE TABLE deleted(mark BLOB PRIMARY KEY, at TEXT NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta(key, value) VALUES ('mark_key', lower(hex(randomblob(16))));

-- How often the lesson came again, and was held back.
ALTER TABLE archived ADD COLUMN times INTEGER NOT NULL DEFAULT 0;
