-- The run store, version 2: searches. docs/runs.md explains it.

CREATE TABLE searches (
  search    INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,        -- the same wherever the search is copied to
  name      TEXT NOT NULL UNIQUE,
  begun     TEXT NOT NULL,
  changed   TEXT NOT NULL,
  config    TEXT NOT NULL,               -- JSON: what is searched, and how long
  version   TEXT NOT NULL,               -- of newtop
  phase     TEXT NOT NULL,               -- searching, finals, done or stopped
  data      TEXT NOT NULL,
  seconds   REAL NOT NULL DEFAULT 0,     -- that it has taken, over all resumes
  spent     REAL NOT NULL DEFAULT 0,     -- gradient equivalents of all trials
  rest      TEXT NOT NULL,               -- JSON: what going on needs besides
  owner     TEXT,                        -- who searches; null: nobody
  host      TEXT NOT NULL,
  process   INTEGER NOT NULL,
  identity  TEXT NOT NULL,
  heartbeat TEXT NOT NULL
) STRICT;

-- Of a search and a number there is one trial, also among those of other databases. Its run may have been removed.
CREATE TABLE trials (
  search  INTEGER NOT NULL REFERENCES searches ON DELETE CASCADE,
  number  INTEGER NOT NULL,              -- from 1
  run     TEXT,                          -- ID of its run; null: none yet
  state   TEXT NOT NULL,
  why     TEXT NOT NULL,
  seed    TEXT NOT NULL,
  rung    INTEGER NOT NULL,
  final   INTEGER NOT NULL,
  choices TEXT NOT NULL,                 -- JSON: [{"Key", "Value", "Number"}, …]
  figures TEXT NOT NULL,                 -- JSON
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;
