-- The seed's OutboxJoinMember table, column for column (OBX-111).
CREATE VIEW pawl.outbox_join_members AS
SELECT m.join_id, m.outbox_message_id, m.id, m.status, m.created_utc FROM pawl.outbox_join_member m;
