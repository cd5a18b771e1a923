-- Which memories were merged into which. Evidence about a source counts for what it was merged into, as long as the row
-- is there and says so: it is not copied, so that undoing a merge gives each memory back what was its own.
CREATE TABLE merged(
    memory INTEGER PRIMARY KEY,
    into_memory INTEGER NOT NULL,
    -- 0 when what they were merged into says something else now: trust in one text is not trust in another.
    counts INTEGER NOT NULL DEFAULT 1,
    at TEXT NOT NULL
);
CREATE INDEX merged_by_result ON merged(into_memory);
