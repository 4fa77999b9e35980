-- All states there are: the index on SQLite begins with the state.
SELECT pawl.columns(j), pawl.overdue(j) AS overdue
  FROM pawl.outbox_join j WHERE j.join_id IN (SELECT m.join_id FROM pawl.outbox_join_member m WHERE m.status IN (0, 1, 2) AND m.id = @id) ORDER BY pawl.rank(j.join_id) pawl.limit(@most)
