-- How two memories of this project relate. The ends are row numbers, so a link cannot lead anywhere else.
CREATE TABLE links(
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    type TEXT NOT NULL,
    strength REAL NOT NULL,
    evidence TEXT NOT NULL,
    judge TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (source, target, type)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links(target);

-- However a memory is deleted, its links go with it.
CREATE TRIGGER links_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM links WHERE source = old.n OR target = old.n;
END;
