-- When what a memory tells of happened, and from when on it is not served; NULL where nobody said.
ALTER TABLE memories ADD COLUMN occurred_at TEXT;
ALTER TABLE memories ADD COLUMN expires_at TEXT;
CREATE INDEX memories_by_expiry ON memories(expires_at) WHERE expires_at IS NOT NULL;
