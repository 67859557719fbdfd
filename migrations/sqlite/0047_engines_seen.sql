-- oldest engine: 42
-- Which listeners each engine has, so that they can be compared: a line each, with its name, a
-- fingerprint of all that decides what it hears, and words. An engine from before notes nothing.
CREATE TABLE prescient_engine_seen (
    engine TEXT NOT NULL,
    command TEXT NOT NULL,
    file TEXT NOT NULL,
    listeners TEXT NOT NULL,
    seen_at_us INTEGER NOT NULL,
    counts_until_us INTEGER NOT NULL,
    PRIMARY KEY (engine, command, file)
) STRICT, WITHOUT ROWID;
