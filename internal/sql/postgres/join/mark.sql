WITH m AS (
  UPDATE pawl.outbox_join_member SET status = @status WHERE join_id = @join_id AND id = ANY (@ids) AND status = 2 - @status RETURNING id)
UPDATE pawl.outbox_join SET failed_steps = failed_steps + (@status - 1) * (SELECT count(*) FROM m) WHERE join_id = @join_id
