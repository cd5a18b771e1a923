-- Sources that are forgotten: their signals count for nothing while they are here, and again when they are restored.
CREATE TABLE forgotten(source TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;

-- Why a memory was taken out of service, and the state it goes back to.
CREATE TABLE archived(
    memory INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    why TEXT NOT NULL,
    at TEXT NOT NULL
);
