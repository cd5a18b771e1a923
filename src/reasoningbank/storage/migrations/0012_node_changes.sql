-- The change feed of the graph's vectors: a process brings its index of nodes up to date from here. Only those of the
-- current generation are told; another generation is another index. Triggers see also what goes with a deleted node.
CREATE TABLE node_changes(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    op TEXT NOT NULL CHECK (op IN ('put', 'delete')),
    node INTEGER NOT NULL,
    vector INTEGER NOT NULL
);

CREATE TRIGGER node_vector_put AFTER INSERT ON node_vectors
WHEN new.generation = (SELECT generation FROM generations WHERE state = 'current') BEGIN
    INSERT INTO node_changes(op, node, vector) VALUES ('put', new.node, new.id);
END;

CREATE TRIGGER node_vector_deleted AFTER DELETE ON node_vectors
WHEN old.generation = (SELECT generation FROM generations WHERE state = 'current') BEGIN
    INSERT INTO node_changes(op, node, vector) VALUES ('delete', old.node, old.id);
END;
