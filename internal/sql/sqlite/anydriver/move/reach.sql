SELECT min(s.last, 140737488355327) AS low, CASE WHEN s.last > 140737488355327 THEN s.last ELSE 0 END AS high FROM pawl.outbox_sequence s
