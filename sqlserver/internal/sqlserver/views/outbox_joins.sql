-- The seed's OutboxJoin table, column for column (OBX-111).
CREATE VIEW pawl.outbox_joins AS
SELECT j.join_id, j.grouping_key, j.expected_steps, j.completed_steps, j.failed_steps, j.status, j.created_utc, j.last_updated_utc, j.metadata, j.deadline_utc
  FROM pawl.outbox_join j;
