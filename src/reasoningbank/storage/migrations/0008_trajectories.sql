-- What happened in a run, kept with its episode where the settings say so: scrubbed, and up to a size.
CREATE TABLE trajectories(
    ref TEXT PRIMARY KEY,
    result TEXT NOT NULL,
    size INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    scrub_version INTEGER NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX trajectories_by_age ON trajectories(at);

CREATE TABLE steps(
    ref TEXT NOT NULL,
    position INTEGER NOT NULL,
    step TEXT NOT NULL,
    PRIMARY KEY (ref, position)
) WITHOUT ROWID;

-- The episodes, or the sessions, that a memory was distilled from.
CREATE TABLE origins(
    memory INTEGER NOT NULL,
    ref TEXT NOT NULL,
    PRIMARY KEY (memory, ref)
) WITHOUT ROWID;

CREATE TRIGGER origins_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM origins WHERE memory = old.n;
END;
