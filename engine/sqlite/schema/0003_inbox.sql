-- The inbox: see docs/inbox.md. The view is the seed's Inbox, keyed by source and
-- message id, with readable times.

CREATE TABLE pawl.inbox_base (
  source           TEXT NOT NULL,
  message_id       TEXT NOT NULL,
  hash             BLOB,
  first_seen_utc   INTEGER NOT NULL,
  last_seen_utc    INTEGER NOT NULL,
  processed_utc    INTEGER,
  deliveries       INTEGER NOT NULL DEFAULT 1, -- how often it was seen
  attempts         INTEGER NOT NULL DEFAULT 0, -- how often its handler ran, as far as that is known
  mismatches       INTEGER NOT NULL DEFAULT 0, -- deliveries with another hash
  status           TEXT NOT NULL DEFAULT 'Seen' CHECK (status IN ('Seen', 'Processing', 'Done', 'Dead')),
  last_error       TEXT,
  token            BLOB,    -- of the attempt under way
  locked_until_utc INTEGER, -- end of its lease
  PRIMARY KEY (source, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.inbox_open ON pawl.inbox_base (last_seen_utc) WHERE status IN ('Seen', 'Processing');
CREATE INDEX pawl.inbox_done ON pawl.inbox_base (processed_utc) WHERE status = 'Done';
CREATE INDEX pawl.inbox_dead ON pawl.inbox_base (source, message_id) WHERE status = 'Dead';

CREATE VIEW pawl.inbox AS
SELECT source, message_id, hash,
       strftime('%Y-%m-%dT%H:%M:%fZ', first_seen_utc / 1e6, 'unixepoch') AS first_seen_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_seen_utc / 1e6, 'unixepoch') AS last_seen_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', processed_utc / 1e6, 'unixepoch') AS processed_utc,
       deliveries, attempts, mismatches, status, last_error,
       strftime('%Y-%m-%dT%H:%M:%fZ', locked_until_utc / 1e6, 'unixepoch') AS locked_until_utc
  FROM pawl.inbox_base;
