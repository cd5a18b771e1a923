-- In a shared bank: who reads it, who may write, and who may approve.
CREATE TABLE members(
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    may TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- In a shared bank: which lesson of which project a lesson came from, and the revisions that were compared last.
CREATE TABLE promoted(
    memory INTEGER NOT NULL,
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    origin_revision INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    judge TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (memory, source, origin)
) WITHOUT ROWID;
CREATE INDEX promoted_by_origin ON promoted(source, origin);
CREATE TRIGGER promoted_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM promoted WHERE memory = old.n;
END;

-- In a project: what its runs were handed from shared banks, and what verdict those were told: '-' before anything.
-- Settled is what needs no second look, unless another verdict is given.
CREATE TABLE shared_runs(
    ref TEXT NOT NULL,
    bank TEXT NOT NULL,
    served TEXT NOT NULL,
    told TEXT NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (ref, bank)
) WITHOUT ROWID;
CREATE INDEX shared_runs_open ON shared_runs(settled) WHERE settled = 0;
