-- A text index holds the words of what was deleted or rewritten until its segments are merged: that is due now. The
-- statement is an upsert, since an INSERT OR REPLACE in a trigger takes the conflict rule of what fired it.
CREATE TRIGGER words_of_deleted_memory AFTER DELETE ON memories BEGIN
    INSERT INTO meta(key, value) VALUES ('words_left', '1') ON CONFLICT (key) DO NOTHING;
END;

CREATE TRIGGER words_of_rewritten_memory AFTER UPDATE OF title, content, description, applies_when ON memories BEGIN
    INSERT INTO meta(key, value) VALUES ('words_left', '1') ON CONFLICT (key) DO NOTHING;
END;

CREATE TRIGGER words_of_deleted_node AFTER DELETE ON nodes BEGIN
    INSERT INTO meta(key, value) VALUES ('words_left', '1') ON CONFLICT (key) DO NOTHING;
END;

-- What was deleted before may still be there.
INSERT INTO meta(key, value) VALUES ('words_left', '1');
