-- Runs that had a chance of going without lessons, so that what lessons do can be measured, and what was drawn.
-- `unit` is what stays in one arm: the thread, or the reference. Of single lessons only the first draw of a unit says
-- something about them (`drawn`); what comes later in it follows that draw.
CREATE TABLE trials(
    ref TEXT PRIMARY KEY,
    unit TEXT NOT NULL,
    of TEXT NOT NULL CHECK (of IN ('run', 'memory')),
    rate REAL NOT NULL,
    held INTEGER NOT NULL,
    drawn INTEGER NOT NULL,
    expected REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX trials_by_unit ON trials(unit);

-- The lessons that could be withheld, with the chance of it; `given` is 0 for those that were.
CREATE TABLE candidates(
    ref TEXT NOT NULL,
    memory INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    chance REAL NOT NULL,
    given INTEGER NOT NULL,
    PRIMARY KEY (ref, memory)
) WITHOUT ROWID;
CREATE INDEX candidates_by_memory ON candidates(memory);
