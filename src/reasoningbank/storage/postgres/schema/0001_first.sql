-- Every table begins its key with the project, and shows the rows of the project that the transaction named, and no
-- others (see the policies at the end). The columns beside it are those of the folder's database.

CREATE TABLE versions(number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());

-- The row of a project is the lock of its writers.
CREATE TABLE projects(
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    UNIQUE (tenant, name)
);

CREATE FUNCTION here() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN current_setting('reasoningbank.project')::bigint;

CREATE TABLE counters(
    project bigint NOT NULL DEFAULT here(),
    name text COLLATE "C" NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (project, name)
);

-- The next row number of a table; none is ever given twice.
CREATE FUNCTION next_number(counted text) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO counters(name, last) VALUES (counted, 1)
    ON CONFLICT (project, name) DO UPDATE SET last = counters.last + 1 RETURNING last
$$;

CREATE TABLE meta(
    project bigint NOT NULL DEFAULT here(),
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (project, key)
);

CREATE TABLE memories(
    project bigint NOT NULL DEFAULT here(),
    n bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    description text NOT NULL,
    applies_when text NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    tags text NOT NULL,
    state text COLLATE "C" NOT NULL,
    initial_confidence double precision NOT NULL,
    source_how text COLLATE "C" NOT NULL,
    source_by text COLLATE "C",
    source_session text COLLATE "C",
    trusted bigint NOT NULL,
    metadata text NOT NULL,
    fingerprint bytea NOT NULL,
    revision bigint NOT NULL,
    scrub_version bigint NOT NULL,
    findings text NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    identity bytea NOT NULL DEFAULT '',
    signatures text NOT NULL DEFAULT '',
    occurred_at text COLLATE "C",
    expires_at text COLLATE "C",
    PRIMARY KEY (project, n),
    UNIQUE (project, id)
) PARTITION BY HASH (project);
CREATE INDEX memories_by_fingerprint ON memories(project, fingerprint);
CREATE INDEX memories_by_source ON memories(project, source_by) WHERE source_by IS NOT NULL;
CREATE INDEX memories_by_state ON memories(project, state) WHERE state <> 'active';
CREATE INDEX memories_by_identity ON memories(project, identity);
CREATE UNIQUE INDEX active_by_identity ON memories(project, identity) WHERE state = 'active';
CREATE INDEX memories_by_expiry ON memories(project, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE generations(
    project bigint NOT NULL DEFAULT here(),
    generation bigint NOT NULL,
    name text NOT NULL,
    revision text NOT NULL,
    dim bigint NOT NULL,
    pooling text NOT NULL,
    normalised bigint NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('current', 'filling')),
    PRIMARY KEY (project, generation),
    UNIQUE (project, state)
);

CREATE TABLE vectors(
    project bigint NOT NULL DEFAULT here(),
    id bigint NOT NULL,
    memory bigint NOT NULL,
    role text COLLATE "C" NOT NULL CHECK (role IN ('lesson', 'applies_when')),
    generation bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX vectors_by_memory ON vectors(project, memory, generation, role);

-- The text indexes: the terms of a row as one text, and where each term occurs.
CREATE TABLE terms(
    project bigint NOT NULL DEFAULT here(),
    rowid bigint NOT NULL,
    text text NOT NULL,
    length bigint GENERATED ALWAYS AS (coalesce(array_length(string_to_array(nullif(text, ''), ' '), 1), 0)) STORED,
    PRIMARY KEY (project, rowid)
) PARTITION BY HASH (project);
CREATE TABLE postings(
    project bigint NOT NULL DEFAULT here(),
    term text COLLATE "C" NOT NULL,
    rowid bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (project, term, rowid) INCLUDE (count)
) PARTITION BY HASH (project);
CREATE TABLE node_terms(
    project bigint NOT NULL DEFAULT here(),
    rowid bigint NOT NULL,
    text text NOT NULL,
    length bigint GENERATED ALWAYS AS (coalesce(array_length(string_to_array(nullif(text, ''), ' '), 1), 0)) STORED,
    PRIMARY KEY (project, rowid)
) PARTITION BY HASH (project);
CREATE TABLE node_postings(
    project bigint NOT NULL DEFAULT here(),
    term text COLLATE "C" NOT NULL,
    rowid bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (project, term, rowid) INCLUDE (count)
) PARTITION BY HASH (project);

CREATE TABLE changes(
    project bigint NOT NULL DEFAULT here(),
    seq bigint NOT NULL DEFAULT next_number('changes'),
    op text COLLATE "C" NOT NULL CHECK (op IN ('put', 'delete', 'evidence')),
    memory bigint NOT NULL,
    vector bigint,
    PRIMARY KEY (project, seq)
) PARTITION BY HASH (project);

-- The signal log: each line as it stands in the files of a folder, in segments of a day.
CREATE TABLE signals(
    project bigint NOT NULL DEFAULT here(),
    segment bigint NOT NULL,
    number bigint NOT NULL,
    line bytea NOT NULL,
    PRIMARY KEY (project, segment, number)
) PARTITION BY HASH (project);

CREATE TABLE log_positions(
    project bigint NOT NULL DEFAULT here(),
    segment bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    bad bigint NOT NULL DEFAULT 0,
    orphans bigint NOT NULL DEFAULT 0,
    set_back bigint NOT NULL DEFAULT 0,
    rolled bigint NOT NULL DEFAULT 0,
    checksum bigint,
    PRIMARY KEY (project, segment),
    UNIQUE (project, name)
);

CREATE TABLE evidence(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    ref text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    polarity bigint NOT NULL,
    weight bigint NOT NULL,
    superseded bigint NOT NULL,
    day bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    judge text COLLATE "C" NOT NULL,
    alone bigint NOT NULL,
    validates text NOT NULL,
    segment bigint NOT NULL,
    PRIMARY KEY (project, memory, ref, kind)
) PARTITION BY HASH (project);
CREATE INDEX evidence_by_segment ON evidence(project, segment);
CREATE INDEX evidence_by_ref ON evidence(project, ref);
CREATE INDEX evidence_by_day ON evidence(project, memory, kind, day);

CREATE TABLE tallies(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    judge text COLLATE "C" NOT NULL,
    superseded bigint NOT NULL,
    rolled bigint NOT NULL,
    positive bigint NOT NULL,
    negative bigint NOT NULL,
    last text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, kind, day, source, judge, superseded, rolled)
) PARTITION BY HASH (project);

CREATE TABLE validations(
    project bigint NOT NULL DEFAULT here(),
    segment bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    confirmed bigint NOT NULL,
    refuted bigint NOT NULL,
    PRIMARY KEY (project, segment, kind)
);

CREATE TABLE episodes(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    task text NOT NULL,
    thread text COLLATE "C",
    opened_at text COLLATE "C" NOT NULL,
    closed_at text COLLATE "C",
    verdict text COLLATE "C",
    reason text NOT NULL DEFAULT '',
    judge text COLLATE "C" NOT NULL DEFAULT '',
    sealed bigint NOT NULL DEFAULT 0,
    tokens bigint,
    doubtful bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project, ref)
) PARTITION BY HASH (project);
CREATE INDEX episodes_by_thread ON episodes(project, thread, opened_at) WHERE thread IS NOT NULL;
CREATE INDEX episodes_open ON episodes(project, opened_at) WHERE verdict IS NULL;

CREATE TABLE served(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    memory bigint NOT NULL,
    revision bigint NOT NULL,
    confidence double precision NOT NULL,
    deviation double precision NOT NULL,
    provisional bigint NOT NULL,
    similarity double precision NOT NULL,
    keyword double precision NOT NULL,
    score double precision NOT NULL,
    sealed bigint NOT NULL DEFAULT 0,
    about double precision NOT NULL DEFAULT 1.0,
    step bigint NOT NULL DEFAULT 0,
    pinned bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project, ref, position)
) PARTITION BY HASH (project);
CREATE INDEX served_by_memory ON served(project, memory);

CREATE TABLE sealed(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    ref text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    polarity bigint NOT NULL,
    PRIMARY KEY (project, memory, ref, kind)
) PARTITION BY HASH (project);

CREATE TABLE jobs(
    project bigint NOT NULL DEFAULT here(),
    n bigint NOT NULL DEFAULT next_number('jobs'),
    id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('run', 'anti-pattern')),
    status text COLLATE "C" NOT NULL,
    task text NOT NULL,
    task_key text COLLATE "C" NOT NULL,
    verdict text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    attempts bigint NOT NULL,
    due_at text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    outcome text NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, n),
    UNIQUE (project, id),
    UNIQUE (project, key)
);
CREATE INDEX jobs_waiting ON jobs(project, due_at) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_by_task ON jobs(project, task_key, verdict);
CREATE INDEX jobs_by_status ON jobs(project, status, n);

CREATE TABLE forgotten(
    project bigint NOT NULL DEFAULT here(),
    source text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, source)
);

CREATE TABLE archived(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    times bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project, memory)
);

CREATE TABLE merged(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    into_memory bigint NOT NULL,
    counts bigint NOT NULL DEFAULT 1,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory)
);
CREATE INDEX merged_by_result ON merged(project, into_memory);

CREATE TABLE links(
    project bigint NOT NULL DEFAULT here(),
    source bigint NOT NULL,
    target bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    strength double precision NOT NULL,
    evidence text NOT NULL,
    judge text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, source, target, type)
);
CREATE INDEX links_by_target ON links(project, target);

CREATE TABLE trajectories(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    result text NOT NULL,
    size bigint NOT NULL,
    left_out bigint NOT NULL,
    scrub_version bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, ref)
);
CREATE INDEX trajectories_by_age ON trajectories(project, at);

CREATE TABLE steps(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    step text NOT NULL,
    PRIMARY KEY (project, ref, position)
) PARTITION BY HASH (project);

CREATE TABLE origins(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    ref text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, ref)
);

CREATE TABLE nodes(
    project bigint NOT NULL DEFAULT here(),
    n bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    text text NOT NULL,
    conv_id text COLLATE "C",
    tags text NOT NULL,
    fields text NOT NULL,
    state text COLLATE "C" NOT NULL,
    findings text NOT NULL,
    scrub_version bigint NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, n),
    UNIQUE (project, id)
);
CREATE INDEX nodes_by_conversation ON nodes(project, conv_id) WHERE conv_id IS NOT NULL;

CREATE TABLE edges(
    project bigint NOT NULL DEFAULT here(),
    n bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    text text NOT NULL,
    weight double precision NOT NULL,
    tags text NOT NULL,
    scrub_version bigint NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, n),
    UNIQUE (project, id)
);
CREATE INDEX edges_by_source ON edges(project, source);
CREATE INDEX edges_by_target ON edges(project, target);

CREATE TABLE pointers(
    project bigint NOT NULL DEFAULT here(),
    node bigint NOT NULL,
    memory bigint NOT NULL,
    PRIMARY KEY (project, node, memory)
);
CREATE INDEX pointers_by_memory ON pointers(project, memory);

CREATE TABLE node_vectors(
    project bigint NOT NULL DEFAULT here(),
    id bigint NOT NULL,
    node bigint NOT NULL,
    generation bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (project, id)
);
CREATE UNIQUE INDEX node_vectors_by_node ON node_vectors(project, node, generation);
CREATE INDEX node_vectors_by_generation ON node_vectors(project, generation);

CREATE TABLE node_changes(
    project bigint NOT NULL DEFAULT here(),
    seq bigint NOT NULL DEFAULT next_number('node_changes'),
    op text COLLATE "C" NOT NULL CHECK (op IN ('put', 'delete')),
    node bigint NOT NULL,
    vector bigint NOT NULL,
    PRIMARY KEY (project, seq)
);

CREATE TABLE parameters(
    project bigint NOT NULL DEFAULT here(),
    n bigint NOT NULL DEFAULT next_number('parameters'),
    change bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    record text NOT NULL,
    PRIMARY KEY (project, n)
);

CREATE TABLE signature_keys(
    project bigint NOT NULL DEFAULT here(),
    key text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    exact bigint NOT NULL,
    PRIMARY KEY (project, key, memory)
);
CREATE INDEX signature_keys_by_memory ON signature_keys(project, memory);

CREATE TABLE failed_acts(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    step bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    keys text NOT NULL,
    act text NOT NULL,
    acts bigint NOT NULL DEFAULT 0,
    settled text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (project, ref, step)
);

CREATE TABLE trials(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    of text COLLATE "C" NOT NULL CHECK (of IN ('run', 'memory')),
    rate double precision NOT NULL,
    held bigint NOT NULL,
    drawn bigint NOT NULL,
    expected double precision NOT NULL,
    PRIMARY KEY (project, ref)
);
CREATE INDEX trials_by_unit ON trials(project, unit);

CREATE TABLE candidates(
    project bigint NOT NULL DEFAULT here(),
    ref text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    revision bigint NOT NULL,
    chance double precision NOT NULL,
    given bigint NOT NULL,
    PRIMARY KEY (project, ref, memory)
);
CREATE INDEX candidates_by_memory ON candidates(project, memory);

CREATE TABLE revisions(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    number bigint NOT NULL,
    draft text NOT NULL,
    identity bytea NOT NULL,
    scrub_version bigint NOT NULL,
    evidence text NOT NULL,
    reason text NOT NULL,
    judge text COLLATE "C" NOT NULL,
    written_at text COLLATE "C" NOT NULL,
    replaced_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, number)
);
CREATE INDEX revisions_by_identity ON revisions(project, identity);

CREATE TABLE deleted(
    project bigint NOT NULL DEFAULT here(),
    mark bytea NOT NULL,
    at text COLLATE "C" NOT NULL,
    times bigint NOT NULL,
    PRIMARY KEY (project, mark)
);

CREATE TABLE read_files(
    project bigint NOT NULL DEFAULT here(),
    digest text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, digest)
);

CREATE TABLE pins(
    project bigint NOT NULL DEFAULT here(),
    memory bigint NOT NULL,
    tag text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, memory, tag)
);

-- What goes with a row that goes.

CREATE FUNCTION memory_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM links WHERE source = old.n OR target = old.n;
    DELETE FROM origins WHERE memory = old.n;
    DELETE FROM pointers WHERE memory = old.n;
    DELETE FROM signature_keys WHERE memory = old.n;
    DELETE FROM revisions WHERE memory = old.n;
    DELETE FROM pins WHERE memory = old.n;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_deleted AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION memory_deleted();

CREATE FUNCTION node_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM edges WHERE source = old.n OR target = old.n;
    DELETE FROM pointers WHERE node = old.n;
    DELETE FROM node_vectors WHERE node = old.n;
    DELETE FROM node_terms WHERE rowid = old.n;
    RETURN NULL;
END $$;
CREATE TRIGGER node_deleted AFTER DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION node_deleted();

CREATE FUNCTION node_vector_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    searched bigint := (SELECT generation FROM generations WHERE state = 'current');
BEGIN
    IF TG_OP = 'INSERT' AND new.generation = searched THEN
        INSERT INTO node_changes(op, node, vector) VALUES ('put', new.node, new.id);
    ELSIF TG_OP = 'DELETE' AND old.generation = searched THEN
        INSERT INTO node_changes(op, node, vector) VALUES ('delete', old.node, old.id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER node_vector_changed AFTER INSERT OR DELETE ON node_vectors
    FOR EACH ROW EXECUTE FUNCTION node_vector_changed();

-- A term's counts follow from the text, and the totals of an index are kept with the counters: rows as 'terms rows',
-- terms as 'terms length'.

CREATE FUNCTION totals_changed(index text, rows bigint, length bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO counters(name, last) VALUES (index || ' rows', rows), (index || ' length', length)
    ON CONFLICT (project, name) DO UPDATE SET last = counters.last + excluded.last
$$;

CREATE FUNCTION index_put() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    rows bigint := (SELECT count(*) FROM come);
    length bigint := (SELECT coalesce(sum(come.length), 0) FROM come);
BEGIN
    IF TG_ARGV[0] = 'terms' THEN
        INSERT INTO postings(term, rowid, count)
            SELECT term, rowid, count(*) FROM come, string_to_table(nullif(text, ''), ' ') AS term GROUP BY term, rowid;
    ELSE
        INSERT INTO node_postings(term, rowid, count)
            SELECT term, rowid, count(*) FROM come, string_to_table(nullif(text, ''), ' ') AS term GROUP BY term, rowid;
    END IF;
    PERFORM totals_changed(TG_ARGV[0], rows, length);
    RETURN NULL;
END $$;
CREATE TRIGGER terms_put AFTER INSERT ON terms
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION index_put('terms');
CREATE TRIGGER node_terms_put AFTER INSERT ON node_terms
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION index_put('node_terms');

CREATE FUNCTION index_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    rows bigint := (SELECT count(*) FROM gone);
    length bigint := (SELECT coalesce(sum(gone.length), 0) FROM gone);
BEGIN
    IF TG_ARGV[0] = 'terms' THEN
        DELETE FROM postings USING gone, string_to_table(nullif(gone.text, ''), ' ') AS gone_term
            WHERE postings.term = gone_term COLLATE "C" AND postings.rowid = gone.rowid;
    ELSE
        DELETE FROM node_postings USING gone, string_to_table(nullif(gone.text, ''), ' ') AS gone_term
            WHERE node_postings.term = gone_term COLLATE "C" AND node_postings.rowid = gone.rowid;
    END IF;
    PERFORM totals_changed(TG_ARGV[0], -rows, -length);
    RETURN NULL;
END $$;
CREATE TRIGGER terms_gone AFTER DELETE ON terms
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION index_gone('terms');
CREATE TRIGGER node_terms_gone AFTER DELETE ON node_terms
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION index_gone('node_terms');

-- The first question of every transaction: from here on it sees the rows of one project, holds its lock if it writes
-- (`durability` is '' for a reading), and knows its state. As one function, whose plans a connection keeps.

CREATE FUNCTION enter(of_tenant text, of_project bigint, waits text, durability text) RETURNS TABLE(
    bound boolean, there boolean, moved_to text, given text, pinned boolean,
    generation bigint, name text, revision text, dim bigint, pooling text, normalised bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('search_path', 'reasoningbank', true),
        set_config('reasoningbank.tenant', of_tenant, true),
        set_config('reasoningbank.project', of_project::text, true),
        set_config('lock_timeout', waits, true),
        set_config('synchronous_commit', CASE durability WHEN 'full' THEN 'on' ELSE 'off' END, true);
    IF durability <> '' THEN
        PERFORM number FROM projects WHERE number = of_project FOR UPDATE;
    END IF;
    RETURN QUERY SELECT row_security_active('memories'), EXISTS(SELECT 1 FROM projects WHERE number = of_project),
        (SELECT value FROM meta WHERE key = 'moved_to'),
        (SELECT json_object_agg(counters.name, last) FROM counters)::text, EXISTS(SELECT 1 FROM pins),
        g.generation, g.name, g.revision, g.dim, g.pooling, g.normalised
        FROM (SELECT 1) AS one LEFT JOIN generations AS g ON g.state = 'current';
END $$;

-- The functions that statements use on every engine.

CREATE FUNCTION json_each(written text) RETURNS TABLE(key text, value text, type text, atom numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT each.key,
        CASE json_typeof(each.value) WHEN 'string' THEN each.value #>> '{}' ELSE each.value::text END,
        CASE json_typeof(each.value)
            WHEN 'string' THEN 'text'
            WHEN 'boolean' THEN each.value::text
            WHEN 'number' THEN CASE WHEN each.value::text ~ '[.eE]' THEN 'real' ELSE 'integer' END
            ELSE json_typeof(each.value)
        END,
        CASE json_typeof(each.value)
            WHEN 'number' THEN (each.value #>> '{}')::numeric
            WHEN 'boolean' THEN CASE WHEN each.value::text = 'true' THEN 1 ELSE 0 END
        END
    FROM (
        SELECT pair.key, pair.value FROM json_each(CASE WHEN json_typeof(written::json) = 'object' THEN written::json END) AS pair
        UNION ALL
        SELECT NULL, element FROM
            json_array_elements(CASE WHEN json_typeof(written::json) = 'array' THEN written::json END) AS element
    ) AS each
$$;

CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos($1, $2);

CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN replace(lower($1), 'ß', 'ss');

-- Partitions of the large tables, and who sees what.

DO $$
DECLARE
    name text;
    parts constant integer := current_setting('reasoningbank.partitions')::integer;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace LOOP
        FOR part IN 0 .. parts - 1 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                name || '_' || part, name, parts, part);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name || '_' || part);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name || '_' || part);
        END LOOP;
    END LOOP;
    FOR name IN
        SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'project'
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_project ON %I USING (project = here()) WITH CHECK (project = here())', name);
    END LOOP;
END $$;

ALTER TABLE projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE projects FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON projects
    USING (tenant = current_setting('reasoningbank.tenant')) WITH CHECK (tenant = current_setting('reasoningbank.tenant'));
