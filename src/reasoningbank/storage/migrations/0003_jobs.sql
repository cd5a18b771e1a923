-- Runs that wait to be distilled, and what became of them. A job is scoped by the database it is in.
CREATE TABLE jobs(
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    -- The same run enqueued again is the same job.
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('run', 'anti-pattern')),
    status TEXT NOT NULL,
    task TEXT NOT NULL,
    -- Digest of the task's words: runs of one task are compared.
    task_key TEXT NOT NULL,
    verdict TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- While it is queued: not before this time. While it runs: a worker that has not renewed by then is dead.
    due_at TEXT NOT NULL,
    -- Who holds it; a worker whose token is gone may not finish it.
    token TEXT NOT NULL,
    reason TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX jobs_waiting ON jobs(due_at) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_by_task ON jobs(task_key, verdict);
CREATE INDEX jobs_by_status ON jobs(status, n);
