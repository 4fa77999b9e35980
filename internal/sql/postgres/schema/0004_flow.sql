-- lowest: 4

-- Which message took a unique key last. A message without a key writes and reads nothing here.
CREATE TABLE pawl.outbox_unique (
  key         text COLLATE "C" PRIMARY KEY,
  id          bigint NOT NULL, -- its position; 0: it was deleted before its period is over
  message_id  uuid NOT NULL,
  enqueued_at timestamptz NOT NULL,
  until       timestamptz -- the end of its period
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX ON pawl.outbox_unique (id, until);
