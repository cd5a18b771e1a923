-- What a shared bank was told of a run is looked at again when the run gets another verdict, whoever gives it, and
-- when it is known what came of a failure at which the run was handed something.
CREATE TRIGGER shared_runs_of_verdict AFTER UPDATE OF verdict ON episodes BEGIN
    UPDATE shared_runs SET settled = 0 WHERE ref = new.ref;
END;
CREATE TRIGGER shared_runs_of_failure AFTER UPDATE OF settled ON failed_acts BEGIN
    UPDATE shared_runs SET told = '-', settled = 0 WHERE ref = new.ref;
END;
