SELECT pawl.columns(j), pawl.overdue(j) AS overdue
  FROM pawl.outbox_join j WHERE pawl.rank(j.join_id) < pawl.rank(@before) ORDER BY pawl.rank(j.join_id) DESC pawl.limit(@most)
