-- lowest: 5
-- What a message's last error has in common with others of its kind: what Go programs make of it. Null
-- is a text that another one recorded; see the macro print.
ALTER TABLE pawl.outbox_exception ADD fingerprint nvarchar(400) COLLATE Latin1_General_100_BIN2;
ALTER TABLE pawl.outbox_bulk ADD fingerprint nvarchar(400) COLLATE Latin1_General_100_BIN2;
