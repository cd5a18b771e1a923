-- White space inside quotes is part of what a lesson says (identity.py). Finer than before: no two become one.
UPDATE memories SET identity = lesson_identity(title, content, description, applies_when, outcome)
WHERE instr(title || content || description || applies_when, '"') > 0
OR instr(title || content || description || applies_when, '''') > 0
OR instr(title || content || description || applies_when, '“') > 0
OR instr(title || content || description || applies_when, '«') > 0;
UPDATE revisions SET identity = lesson_identity(
    json_extract(draft, '$.title'), json_extract(draft, '$.content'), coalesce(json_extract(draft, '$.description'), ''),
    coalesce(json_extract(draft, '$.applies_when'), ''), json_extract(draft, '$.outcome')
) WHERE json_valid(draft);

-- Memories of others that a source had retired, and that are served again since it is blocked, with its reason.
CREATE TABLE taken_back(
    source TEXT NOT NULL,
    memory INTEGER NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (source, memory)
) WITHOUT ROWID;
CREATE TRIGGER taken_back_of_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM taken_back WHERE memory = old.n;
END;
