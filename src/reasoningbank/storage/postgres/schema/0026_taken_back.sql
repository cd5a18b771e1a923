-- Memories of others that a source had retired, and that are served again since it is blocked, with its reason.
CREATE TABLE taken_back(
    project bigint NOT NULL DEFAULT here(),
    source text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    why text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, source, memory)
);
ALTER TABLE taken_back ENABLE ROW LEVEL SECURITY;
ALTER TABLE taken_back FORCE ROW LEVEL SECURITY;
CREATE POLICY own_project ON taken_back USING (project = here()) WITH CHECK (project = here());

CREATE FUNCTION taken_back_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM taken_back WHERE memory = old.n;
    RETURN NULL;
END $$;
CREATE TRIGGER taken_back_of_deleted AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION taken_back_of_deleted();
