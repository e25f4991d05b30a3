-- The run store, version 1. docs/runs.md explains it.

-- One row a run. What the recorder counts (events, epochs, inner, bytes) and where it found what (first, last,
-- best: numbers of epochs' events; done: of the last event of all) is for quick lists; the events themselves are in the other tables.
CREATE TABLE runs (
  run        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT UNIQUE,
  begun      TEXT NOT NULL,
  changed    TEXT NOT NULL,
  opening    TEXT NOT NULL,             -- the run event, event 1
  config     TEXT NOT NULL,
  command    TEXT NOT NULL,
  version    TEXT NOT NULL,
  events     INTEGER NOT NULL DEFAULT 1,
  epochs     INTEGER NOT NULL DEFAULT 0,
  inner      INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  first      INTEGER,
  last       INTEGER,
  best       INTEGER,
  done       INTEGER,
  generation INTEGER NOT NULL DEFAULT 0, -- grows when events are forgotten
  owner      TEXT,                       -- who records it; null: nobody
  host       TEXT NOT NULL,
  process    INTEGER NOT NULL,
  identity   TEXT NOT NULL,              -- tells the process from a later one of its number
  heartbeat  TEXT NOT NULL,
  claimed    INTEGER NOT NULL DEFAULT 0, -- 1: to be resumed, nothing new recorded yet
  data       ANY GENERATED ALWAYS AS (opening ->> '$.data.name') VIRTUAL,
  optimizer  ANY GENERATED ALWAYS AS (opening ->> '$.optimizer') VIRTUAL,
  seed       ANY GENERATED ALWAYS AS (opening ->> '$.seed') VIRTUAL,
  parameters ANY GENERATED ALWAYS AS (opening ->> '$.model.parameters') VIRTUAL
) STRICT;

CREATE TABLE epochs (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the event's number in its run, over all tables
  epoch INTEGER NOT NULL,
  optimizer TEXT,
  loss REAL, test_loss REAL, error REAL, test_error REAL, rmse REAL, test_rmse REAL,
  gradient_norm REAL, step_norm REAL, radius REAL, rho REAL, rate REAL, accepted INTEGER NOT NULL,
  gradients REAL, products REAL, losses REAL, equivalents REAL, seconds REAL, elapsed REAL,
  rest TEXT,                             -- the event's other fields as JSON
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Inner iterations of one solve that were recorded together, numbered from seq; the view iterations has one a row.
CREATE TABLE solves (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  block INTEGER NOT NULL,
  member INTEGER NOT NULL,
  steps TEXT NOT NULL,                   -- [[iteration, residual, step_norm, radius, curvature, model], …]
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW iterations AS
  SELECT run, seq + s.key AS seq, epoch, block, member, s.value ->> 0 AS iteration, s.value ->> 1 AS residual,
         s.value ->> 2 AS step_norm, s.value ->> 3 AS radius, s.value ->> 4 AS curvature, s.value ->> 5 AS model
  FROM solves, json_each(solves.steps) AS s;

CREATE TABLE spectra (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  json TEXT NOT NULL,                    -- the event
  epoch ANY GENERATED ALWAYS AS (json ->> '$.epoch') VIRTUAL,
  method ANY GENERATED ALWAYS AS (json ->> '$.method') VIRTUAL,
  operator ANY GENERATED ALWAYS AS (json ->> '$.operator') VIRTUAL,
  largest ANY GENERATED ALWAYS AS (json ->> '$.eigenvalues[0]') VIRTUAL,
  smallest ANY GENERATED ALWAYS AS (json ->> '$.eigenvalues[#-1]') VIRTUAL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Every other event.
CREATE TABLE marks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  json TEXT NOT NULL,                    -- the event
  type ANY GENERATED ALWAYS AS (json ->> '$.type') VIRTUAL,
  epoch ANY GENERATED ALWAYS AS (json ->> '$.epoch') VIRTUAL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- For each stretch of epochs the events that hold a figure's least and greatest value, so that a long run opens
-- quickly: [[least, seq, greatest, seq] of loss, test_loss, error, test_error].
CREATE TABLE peaks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  first INTEGER NOT NULL,                -- events of the stretch's first and last epoch
  last INTEGER NOT NULL,
  extremes TEXT NOT NULL,
  PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

-- A checkpoint has its row here once all its parts are there.
CREATE TABLE checkpoints (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the last event before it
  epoch INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,                 -- bytes of all parts
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE parts (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the checkpoint's
  part INTEGER NOT NULL,                 -- from 0
  data BLOB NOT NULL,
  PRIMARY KEY (run, seq, part)
) STRICT;
