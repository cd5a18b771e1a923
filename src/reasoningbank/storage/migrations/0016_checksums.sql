-- What is counted of a segment, as a checksum: damage in place is seen before it is folded again. It is not known of what
-- was counted before.
ALTER TABLE log_positions ADD COLUMN checksum INTEGER;
