-- Whether a run's lessons came with the word that most likely none of them is about its task.
ALTER TABLE episodes ADD COLUMN doubtful INTEGER NOT NULL DEFAULT 0;
