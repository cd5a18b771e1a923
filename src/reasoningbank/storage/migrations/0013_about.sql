-- The chance that a memory was about the task, by its relevance alone. Of what was served before nothing is known: it is
-- taken for sure, as it was then.
ALTER TABLE served ADD COLUMN about REAL NOT NULL DEFAULT 1.0;
