-- The run store, version 4: what a user says of a run. No checksum is of it. docs/runs.md explains it.

ALTER TABLE runs ADD COLUMN note TEXT;
ALTER TABLE runs ADD COLUMN tags TEXT; -- words with a space between them
