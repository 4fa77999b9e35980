-- Reading only the low end bounds the work without an index (D-25).
SELECT lo, n FROM (
  SELECT d.lo, d.n, d.processed_at FROM pawl.outbox_done d
   WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_join_member m JOIN pawl.outbox_join j ON j.join_id = m.join_id
                      WHERE m.status IN (0, 1, 2) AND m.id >= d.lo AND m.id < d.lo + d.n AND j.status = 0)
   ORDER BY d.lo LIMIT @look)
 WHERE processed_at < @before
