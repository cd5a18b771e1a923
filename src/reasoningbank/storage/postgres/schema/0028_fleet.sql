-- When the first job of each project is due, and its next round of upkeep, so that a worker finds them over all
-- projects by one look. NULL where nothing will be due.
ALTER TABLE projects
    ADD COLUMN jobs_due text COLLATE "C",
    ADD COLUMN upkeep_due text COLLATE "C" DEFAULT '';
CREATE INDEX projects_by_jobs ON projects(tenant, jobs_due) WHERE jobs_due IS NOT NULL;
CREATE INDEX projects_by_upkeep ON projects(tenant, upkeep_due) WHERE upkeep_due IS NOT NULL;
CREATE INDEX jobs_of_all ON projects(jobs_due) WHERE jobs_due IS NOT NULL;
CREATE INDEX upkeep_of_all ON projects(upkeep_due) WHERE upkeep_due IS NOT NULL;

CREATE FUNCTION jobs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before text := (SELECT jobs_due FROM projects WHERE number = here());
    next text := (SELECT min(due_at) FROM jobs WHERE status IN ('queued', 'running'));
BEGIN
    IF next IS DISTINCT FROM before THEN
        UPDATE projects SET jobs_due = next WHERE number = here();
    END IF;
    IF next IS NOT NULL AND (before IS NULL OR next < before) THEN
        -- Whose it is nobody is told: any role may listen.
        PERFORM pg_notify('reasoningbank_jobs', '');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_changed AFTER INSERT OR UPDATE OR DELETE ON jobs FOR EACH STATEMENT EXECUTE FUNCTION jobs_changed();

CREATE FUNCTION upkeep_put() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.key = 'moved_to' THEN
        UPDATE projects SET jobs_due = NULL, upkeep_due = NULL WHERE number = here();
    ELSE
        UPDATE projects SET upkeep_due = new.value WHERE number = here();
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER upkeep_put AFTER INSERT OR UPDATE ON meta FOR EACH ROW
    WHEN (new.key IN ('moved_to', 'upkeep_due')) EXECUTE FUNCTION upkeep_put();

-- Of those that are there already. For this the owner of the tables sees every project.
ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE meta NO FORCE ROW LEVEL SECURITY;
ALTER TABLE projects NO FORCE ROW LEVEL SECURITY;
UPDATE projects SET jobs_due =
    (SELECT min(due_at) FROM jobs WHERE jobs.project = projects.number AND status IN ('queued', 'running'));
UPDATE projects SET jobs_due = NULL, upkeep_due = NULL FROM meta WHERE meta.project = number AND key = 'moved_to';
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
ALTER TABLE meta FORCE ROW LEVEL SECURITY;
ALTER TABLE projects FORCE ROW LEVEL SECURITY;
