-- What a project's evidence taught about its evidence: a row a fit, the last one in force, those before it for history.
-- They are not folded but fitted, at any time, to what is there; `change` is the newest change they were fitted to.
CREATE TABLE parameters(
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL,
    at TEXT NOT NULL,
    record TEXT NOT NULL
);
