-- How large projects are is looked at after fewer changes than by default, a tenth of all rows: one that is new and grew
-- is taken for a small one until then.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'project'
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = 0.02)', name);
    END LOOP;
END $$;

-- Each row's terms are looked up by their key: as a join of what goes with all postings, all of a project were read.
CREATE OR REPLACE FUNCTION index_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    rows bigint := (SELECT count(*) FROM gone);
    length bigint := (SELECT coalesce(sum(gone.length), 0) FROM gone);
    each record;
BEGIN
    FOR each IN SELECT gone.rowid AS number, string_to_array(gone.text, ' ') AS terms FROM gone LOOP
        IF TG_ARGV[0] = 'terms' THEN
            DELETE FROM postings WHERE rowid = each.number AND term = ANY(each.terms);
        ELSE
            DELETE FROM node_postings WHERE rowid = each.number AND term = ANY(each.terms);
        END IF;
    END LOOP;
    PERFORM totals_changed(TG_ARGV[0], -rows, -length);
    RETURN NULL;
END $$;
