-- lowest: 3

-- Which message took a unique key last. A message without a key writes and reads nothing here.
CREATE TABLE pawl.outbox_unique (
  key         TEXT PRIMARY KEY,
  id          INTEGER NOT NULL, -- its position; 0: it was deleted before its period is over
  message_id  BLOB NOT NULL,
  enqueued_at INTEGER NOT NULL,
  until       INTEGER -- the end of its period
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.outbox_unique_message ON pawl.outbox_unique (id, until);
