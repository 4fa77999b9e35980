SELECT pawl.columns(j), j.status = 0 AND coalesce(j.deadline_utc <= @now, false) AS overdue
  FROM pawl.outbox_join j WHERE j.join_id < @before ORDER BY j.join_id DESC LIMIT @most
