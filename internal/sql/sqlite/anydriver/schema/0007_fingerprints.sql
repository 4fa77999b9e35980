-- lowest: 5
-- What a message's last error has in common with others of its kind. Null is a text that an older
-- program recorded; see the macro print.
ALTER TABLE pawl.outbox_exception ADD COLUMN fingerprint TEXT;
ALTER TABLE pawl.outbox_bulk ADD COLUMN fingerprint TEXT;
