-- What tells a lesson from every other, as identity.py has it. No two memories in service share one.
ALTER TABLE memories ADD COLUMN identity BLOB NOT NULL DEFAULT x'';
UPDATE memories SET identity = lesson_identity(title, content, description, applies_when, outcome);
CREATE INDEX memories_by_identity ON memories(identity);

-- Of those that do, the oldest stays; what is known of the others counts for it, and each can be looked at still.
INSERT INTO archived(memory, state, why, at)
SELECT m.n, 'active', 'said the same as ' || k.id, m.updated_at FROM memories AS m JOIN memories AS k
ON k.n = (SELECT min(s.n) FROM memories AS s WHERE s.identity = m.identity AND s.state = 'active')
WHERE m.state = 'active' AND m.n <> k.n
ON CONFLICT (memory) DO UPDATE SET state = excluded.state, why = excluded.why, at = excluded.at;
INSERT INTO merged(memory, into_memory, counts, at)
SELECT m.n, k.n, 1, m.updated_at FROM memories AS m JOIN memories AS k
ON k.n = (SELECT min(s.n) FROM memories AS s WHERE s.identity = m.identity AND s.state = 'active')
WHERE m.state = 'active' AND m.n <> k.n
ON CONFLICT (memory) DO UPDATE SET into_memory = excluded.into_memory, counts = 1, at = excluded.at;
INSERT INTO changes(op, memory)
SELECT 'put', n FROM memories WHERE n IN (SELECT memory FROM merged WHERE counts = 1) AND state = 'active';
INSERT INTO changes(op, memory)
SELECT 'evidence', into_memory FROM merged WHERE memory IN (SELECT n FROM memories WHERE state = 'active');
UPDATE memories SET state = 'archived' WHERE state = 'active' AND n IN (SELECT memory FROM merged WHERE counts = 1)
AND n IN (SELECT memory FROM archived WHERE why LIKE 'said the same as %');

CREATE UNIQUE INDEX active_by_identity ON memories(identity) WHERE state = 'active';
