-- The run store, version 3: checksums, and histories that are thinned. docs/runs.md explains it.

-- CRC-32C of a row's values; null in rows of before.
ALTER TABLE epochs ADD COLUMN crc INTEGER;
ALTER TABLE solves ADD COLUMN crc INTEGER;
ALTER TABLE spectra ADD COLUMN crc INTEGER;
ALTER TABLE marks ADD COLUMN crc INTEGER;
ALTER TABLE peaks ADD COLUMN crc INTEGER;
ALTER TABLE checkpoints ADD COLUMN crc INTEGER;
ALTER TABLE searches ADD COLUMN crc INTEGER;
ALTER TABLE searches ADD COLUMN sums INTEGER NOT NULL DEFAULT 0; -- of the crc of its trials
ALTER TABLE trials ADD COLUMN crc INTEGER;
ALTER TABLE runs ADD COLUMN crc INTEGER;
ALTER TABLE runs ADD COLUMN sums INTEGER NOT NULL DEFAULT 0;    -- of the crc of its epochs, solves, spectra and marks
ALTER TABLE runs ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0; -- epochs that were taken out again
ALTER TABLE runs ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;   -- events up to this one are thinned
