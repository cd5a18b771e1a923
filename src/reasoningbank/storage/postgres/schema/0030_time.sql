-- The first question of a transaction also tells what time it is here, by which processes whose clocks are wrong go.
DROP FUNCTION enter(text, bigint, text, text);
CREATE FUNCTION enter(of_tenant text, of_project bigint, waits text, durability text) RETURNS TABLE(
    bound boolean, there boolean, moved_to text, given text, pinned boolean, at timestamptz,
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
        clock_timestamp(), g.generation, g.name, g.revision, g.dim, g.pooling, g.normalised
        FROM (SELECT 1) AS one LEFT JOIN generations AS g ON g.state = 'current';
END $$;
