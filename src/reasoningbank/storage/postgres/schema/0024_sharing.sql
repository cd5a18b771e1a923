-- Shared banks: who they are open to, where their lessons came from, and what runs were handed from them.

CREATE TABLE members(
    project bigint NOT NULL DEFAULT here(),
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    may text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, kind, name)
);

CREATE TABLE promoted(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    origin_revision bigint NOT NULL,
    revision bigint NOT NULL,
    judge text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, source, origin)
);
CREATE INDEX promoted_by_origin ON promoted(project, source, origin);

CREATE TABLE shared_runs(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    bank text COLLATE "C" NOT NULL,
    served text NOT NULL,
    told text COLLATE "C" NOT NULL,
    settled bigint NOT NULL,
    PRIMARY KEY (project, ref, bank)
);
CREATE INDEX shared_runs_open ON shared_runs(project, settled) WHERE settled = 0;

CREATE FUNCTION promoted_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM promoted WHERE memory = old.n;
    RETURN NULL;
END $$;
CREATE TRIGGER promoted_of_deleted AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION promoted_of_deleted();

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['members', 'promoted', 'shared_runs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_project ON %I USING (project = here()) WITH CHECK (project = here())', name);
    END LOOP;
END $$;
