-- What a shared bank was told of a run is looked at again when the run gets another verdict, whoever gives it, and
-- when it is known what came of a failure at which the run was handed something.

CREATE FUNCTION shared_runs_of_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE shared_runs SET settled = 0 WHERE ref = new.ref;
    RETURN NULL;
END $$;
CREATE TRIGGER shared_runs_of_verdict AFTER UPDATE OF verdict ON episodes
    FOR EACH ROW EXECUTE FUNCTION shared_runs_of_verdict();

CREATE FUNCTION shared_runs_of_failure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE shared_runs SET told = '-', settled = 0 WHERE ref = new.ref;
    RETURN NULL;
END $$;
CREATE TRIGGER shared_runs_of_failure AFTER UPDATE OF settled ON failed_acts
    FOR EACH ROW EXECUTE FUNCTION shared_runs_of_failure();
