-- Hold the messages at positions $1 where they are until the transaction ends.
SELECT 1 FROM pawl.outbox_hold($1::int8[])
