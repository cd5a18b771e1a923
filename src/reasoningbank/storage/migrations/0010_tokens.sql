-- Tokens of the prompt block that a run was given; NULL for runs before this was noted.
ALTER TABLE episodes ADD COLUMN tokens INTEGER;
