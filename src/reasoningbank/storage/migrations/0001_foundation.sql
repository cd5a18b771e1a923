-- What the folder belongs to, and project-wide marks (tenant, project, created_at, deleted).
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- n is never reused (AUTOINCREMENT), so it stands for the memory in every other table, also after a deletion.
CREATE TABLE memories(
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    description TEXT NOT NULL,
    applies_when TEXT NOT NULL,
    outcome TEXT NOT NULL,
    tags TEXT NOT NULL,
    state TEXT NOT NULL,
    initial_confidence REAL NOT NULL,
    source_how TEXT NOT NULL,
    source_by TEXT,
    source_session TEXT,
    trusted INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    revision INTEGER NOT NULL,
    scrub_version INTEGER NOT NULL,
    findings TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX memories_by_fingerprint ON memories(fingerprint);
CREATE INDEX memories_by_source ON memories(source_by) WHERE source_by IS NOT NULL;
CREATE INDEX memories_by_state ON memories(state) WHERE state <> 'active';

-- One embedder identity per generation; a re-embedding fills the next one and swaps.
CREATE TABLE generations(
    generation INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    dim INTEGER NOT NULL,
    pooling TEXT NOT NULL,
    normalised INTEGER NOT NULL,
    state TEXT NOT NULL UNIQUE CHECK (state IN ('current', 'filling'))
);

CREATE TABLE vectors(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('lesson', 'applies_when')),
    generation INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_memory ON vectors(memory, generation, role);

-- What is indexed is our own analysis (terms.py), so the tokenizer only splits at blanks. Positions are kept: without
-- them, BM25 reads every text again.
CREATE VIRTUAL TABLE terms USING fts5(text, tokenize="ascii tokenchars '#$%+-./:@_'", detail=full);

-- The change feed: indexes and caches of every process are brought up to date from here.
CREATE TABLE changes(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    op TEXT NOT NULL CHECK (op IN ('put', 'delete', 'evidence')),
    memory INTEGER NOT NULL,
    vector INTEGER
);

-- How far each segment of the signal log is folded. The mark of a rolled segment stays, so that it never counts again.
CREATE TABLE log_positions(
    segment INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    day INTEGER NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    bad INTEGER NOT NULL DEFAULT 0,
    orphans INTEGER NOT NULL DEFAULT 0,
    set_back INTEGER NOT NULL DEFAULT 0,
    rolled INTEGER NOT NULL DEFAULT 0
);

-- What (memory, ref, kind) contributed, kept as long as its segment. Weights are whole millionths: sums are exact.
CREATE TABLE evidence(
    memory INTEGER NOT NULL,
    ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    polarity INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    superseded INTEGER NOT NULL,
    day INTEGER NOT NULL,
    at TEXT NOT NULL,
    source TEXT NOT NULL,
    judge TEXT NOT NULL,
    alone INTEGER NOT NULL,
    validates TEXT NOT NULL,
    segment INTEGER NOT NULL,
    PRIMARY KEY (memory, ref, kind)
) WITHOUT ROWID;
CREATE INDEX evidence_by_segment ON evidence(segment);
CREATE INDEX evidence_by_ref ON evidence(ref);

CREATE TABLE tallies(
    memory INTEGER NOT NULL,
    kind TEXT NOT NULL,
    day INTEGER NOT NULL,
    source TEXT NOT NULL,
    judge TEXT NOT NULL,
    superseded INTEGER NOT NULL,
    rolled INTEGER NOT NULL,
    positive INTEGER NOT NULL,
    negative INTEGER NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (memory, kind, day, source, judge, superseded, rolled)
) WITHOUT ROWID;

-- How often votes confirmed or refuted the other kinds, per segment: the spec model's weights are a fold of these.
CREATE TABLE validations(
    segment INTEGER NOT NULL,
    kind TEXT NOT NULL,
    confirmed INTEGER NOT NULL,
    refuted INTEGER NOT NULL,
    PRIMARY KEY (segment, kind)
) WITHOUT ROWID;

CREATE TABLE episodes(
    ref TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    thread TEXT,
    opened_at TEXT NOT NULL,
    closed_at TEXT,
    verdict TEXT,
    reason TEXT NOT NULL DEFAULT '',
    judge TEXT NOT NULL DEFAULT '',
    sealed INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX episodes_by_thread ON episodes(thread, opened_at) WHERE thread IS NOT NULL;
CREATE INDEX episodes_open ON episodes(opened_at) WHERE verdict IS NULL;

CREATE TABLE served(
    ref TEXT NOT NULL,
    position INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    confidence REAL NOT NULL,
    deviation REAL NOT NULL,
    provisional INTEGER NOT NULL,
    similarity REAL NOT NULL,
    keyword REAL NOT NULL,
    score REAL NOT NULL,
    PRIMARY KEY (ref, position)
) WITHOUT ROWID;
CREATE INDEX served_by_memory ON served(memory);
