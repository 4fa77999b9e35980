SELECT pawl.columns(j), pawl.overdue(j) AS overdue
  FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join_id
