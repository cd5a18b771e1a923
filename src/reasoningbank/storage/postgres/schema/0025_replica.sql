-- As migration 25 of a folder: what banks that share no database tell one another.

CREATE TABLE replica_origins(
    project bigint NOT NULL DEFAULT here(),
    origin text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    own bigint NOT NULL,
    have bigint NOT NULL,
    head bytea NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, origin)
);

CREATE TABLE replica_blocks(
    project bigint NOT NULL DEFAULT here(),
    origin text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    body bytea NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (project, origin, first)
);

CREATE TABLE replica_registers(
    project bigint NOT NULL DEFAULT here(),
    kind text COLLATE "C" NOT NULL,
    a text COLLATE "C" NOT NULL,
    b text COLLATE "C" NOT NULL,
    c text COLLATE "C" NOT NULL,
    clock text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    body text NOT NULL,
    other text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, kind, a, b, c)
);
CREATE INDEX replica_registers_by_b ON replica_registers(project, b) WHERE b <> '';
CREATE INDEX replica_registers_by_other ON replica_registers(project, other) WHERE other <> '';

CREATE TABLE replica_memories(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    said bytea NOT NULL,
    hash text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    twin text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory),
    UNIQUE (project, id)
);
CREATE INDEX replica_memories_by_said ON replica_memories(project, said);

CREATE TABLE replica_evidence(
    project bigint NOT NULL DEFAULT here(),
    memory text COLLATE "C" NOT NULL,
    said bytea NOT NULL,
    origin text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    judge text COLLATE "C" NOT NULL,
    superseded bigint NOT NULL,
    positive bigint NOT NULL,
    negative bigint NOT NULL,
    last text COLLATE "C" NOT NULL,
    validates text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, said, origin, id)
);
CREATE INDEX replica_evidence_validates ON replica_evidence(project, memory) WHERE validates <> '[]';

CREATE TABLE replica_spent(
    project bigint NOT NULL DEFAULT here(),
    origin text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    what text COLLATE "C" NOT NULL,
    spent bigint NOT NULL,
    PRIMARY KEY (project, origin, day, what)
);

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT relname FROM pg_class
        WHERE relkind = 'r' AND relname LIKE 'replica\_%' AND relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_project ON %I USING (project = here()) WITH CHECK (project = here())', name);
    END LOOP;
END $$;
