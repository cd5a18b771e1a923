-- Memories that are shown whatever the task: always, or where a recall asks for the tag ('' for always).
CREATE TABLE pins(
    memory INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (memory, tag)
) WITHOUT ROWID;
CREATE TRIGGER pins_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM pins WHERE memory = old.n;
END;
-- Handed out since it was pinned.
ALTER TABLE served ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
