-- Files of runs that were distilled, by a hash of what is in them and how, so that a folder is taken up where it was left.
CREATE TABLE IF NOT EXISTS read_files (digest TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
