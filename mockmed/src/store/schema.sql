CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    patient_id TEXT NOT NULL,
    type TEXT NOT NULL,
    note TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('replay', 'other')),
    key TEXT UNIQUE
) STRICT;

CREATE TABLE counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last_id INTEGER NOT NULL,
    rejected_writes INTEGER NOT NULL
) STRICT;

INSERT INTO counter VALUES (1, 0, 0);
