SELECT pawl.columns(j), pawl.overdue(j) AS overdue
  FROM pawl.outbox_join j
 WHERE pawl.exactly(j.grouping_key, @grouping_key) AND pawl.rank(j.join_id) < pawl.rank(@before) AND (@status IS NULL OR j.status = @status) ORDER BY pawl.rank(j.join_id) DESC pawl.limit(@most)
