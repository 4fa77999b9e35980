-- lowest: 5
-- What a claim took under a limit is one row: its first message, and the others, as JSON, and how many they
-- are: to count them in the text took a sixth of a claim's time.
ALTER TABLE pawl.outbox_limit_claim ADD COLUMN more TEXT;
ALTER TABLE pawl.outbox_limit_claim ADD COLUMN n INTEGER NOT NULL DEFAULT 1;
