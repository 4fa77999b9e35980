-- Count member ?3 of join ?2 as ?4 if its message is done (1) or dead (2) already.
UPDATE pawl.outbox_join_member AS m SET status = ?4
 WHERE join_id = ?2 AND outbox_message_id = ?3 AND status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join WHERE join_id = ?2 AND status = 0)
   AND CASE ?4 WHEN 1 THEN EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE d.lo = (SELECT max(x.lo) FROM pawl.outbox_done x WHERE x.lo <= m.id) AND d.lo + d.n > m.id)
                      ELSE EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) END
