SELECT pawl.columns(j), j.status = 0 AND coalesce(j.deadline_utc <= @now, false) AS overdue
  FROM pawl.outbox_join j
 WHERE j.grouping_key = @grouping_key AND j.join_id < @before AND (@status IS NULL OR j.status = @status) ORDER BY j.join_id DESC LIMIT @most
