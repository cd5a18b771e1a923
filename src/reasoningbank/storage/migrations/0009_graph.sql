-- The memory graph: what was asked, answered, done and found, and sentences that join them.
CREATE TABLE nodes(
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    conv_id TEXT,
    tags TEXT NOT NULL,
    fields TEXT NOT NULL,
    state TEXT NOT NULL,
    findings TEXT NOT NULL,
    scrub_version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX nodes_by_conversation ON nodes(conv_id) WHERE conv_id IS NOT NULL;

CREATE TABLE edges(
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    text TEXT NOT NULL,
    weight REAL NOT NULL,
    tags TEXT NOT NULL,
    scrub_version INTEGER NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX edges_by_source ON edges(source);
CREATE INDEX edges_by_target ON edges(target);

-- From nodes to the memories that they bear out, and back.
CREATE TABLE pointers(
    node INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (node, memory)
) WITHOUT ROWID;
CREATE INDEX pointers_by_memory ON pointers(memory);

-- Found like memories are: ids are never reused, generations are those of the memories' vectors.
CREATE TABLE node_vectors(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE UNIQUE INDEX node_vectors_by_node ON node_vectors(node, generation);
CREATE INDEX node_vectors_by_generation ON node_vectors(generation);

CREATE VIRTUAL TABLE node_terms USING fts5(text, tokenize="ascii tokenchars '#$%+-./:@_'", detail=full);

CREATE TRIGGER graph_of_deleted_node AFTER DELETE ON nodes BEGIN
    DELETE FROM edges WHERE source = old.n OR target = old.n;
    DELETE FROM pointers WHERE node = old.n;
    DELETE FROM node_vectors WHERE node = old.n;
    DELETE FROM node_terms WHERE rowid = old.n;
END;

CREATE TRIGGER pointers_of_deleted_memory AFTER DELETE ON memories BEGIN
    DELETE FROM pointers WHERE memory = old.n;
END;
