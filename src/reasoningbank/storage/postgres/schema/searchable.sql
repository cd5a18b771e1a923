-- The vectors of memories once more, as pgvector searches them. Beside the numbered scripts, since not every server has
-- that extension: made when it is asked for. {vector} is the type, by its schema.

CREATE FUNCTION as_vector(stored bytea) RETURNS {vector} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    -- Little-endian 32-bit floats: of each the sign, exponent and fraction, which a 64-bit float holds exactly.
    SELECT array_agg((
        CASE WHEN bits >= 2147483648 THEN -1 ELSE 1 END * power(2::double precision, greatest(exponent, 1) - 150)
        * ((bits & 8388607) + CASE WHEN exponent > 0 THEN 8388608 ELSE 0 END)
    )::real ORDER BY at)::{vector}
    FROM (
        SELECT at, bits, (bits >> 23) & 255 AS exponent FROM (
            SELECT at, get_byte(stored, at) + get_byte(stored, at + 1) * 256::bigint
                + get_byte(stored, at + 2) * 65536::bigint + get_byte(stored, at + 3) * 16777216::bigint AS bits
            FROM generate_series(0, length(stored) - 4, 4) AS at
        ) AS words
    ) AS numbers
$$;

CREATE TABLE searchable(
    project bigint NOT NULL DEFAULT here(),
    id bigint NOT NULL,
    memory bigint NOT NULL,
    generation bigint NOT NULL,
    vector {vector} NOT NULL,
    PRIMARY KEY (project, id)
) PARTITION BY HASH (project);

CREATE FUNCTION searchable_put() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO searchable(id, memory, generation, vector)
        SELECT id, memory, generation, as_vector(vector) FROM come WHERE length(vector) >= 4;
    RETURN NULL;
END $$;
CREATE TRIGGER searchable_put AFTER INSERT ON vectors
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION searchable_put();

CREATE FUNCTION searchable_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM searchable USING gone WHERE searchable.id = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER searchable_gone AFTER DELETE ON vectors
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION searchable_gone();

DO $$
DECLARE
    part record;
BEGIN
    -- In as many parts as the vectors they come from.
    FOR part IN
        SELECT replace(c.relname, 'vectors', 'searchable') AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = 'vectors'::regclass
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF searchable %s', part.name, part.bounds);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part.name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part.name);
    END LOOP;
END $$;

-- Those that are there already. For this the owner of the tables sees every project.
ALTER TABLE vectors NO FORCE ROW LEVEL SECURITY;
INSERT INTO searchable(project, id, memory, generation, vector)
    SELECT project, id, memory, generation, as_vector(vector) FROM vectors WHERE length(vector) >= 4;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;

ALTER TABLE searchable ENABLE ROW LEVEL SECURITY;
ALTER TABLE searchable FORCE ROW LEVEL SECURITY;
CREATE POLICY own_project ON searchable USING (project = here()) WITH CHECK (project = here());
