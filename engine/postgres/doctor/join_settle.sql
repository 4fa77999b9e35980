-- Count what became of the messages at positions $2, which are held, in their
-- joins. $1 the join, $3 the messages' ids: for engines that count join by join. Of the
-- audit: $4 id, or null, $5 actor, $6 target, $7 reason.
SELECT 1 FROM (SELECT $1::uuid, $3::uuid[]) unused, pawl.outbox_runs($2::int8[]) r, LATERAL pawl.outbox_join_settle(r.o_lo, r.o_n),
  LATERAL pawl.audit_note($4, $5, 'fix', $6, $7, 1)
