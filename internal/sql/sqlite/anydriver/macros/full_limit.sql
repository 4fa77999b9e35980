-- full_limit(kind, name)
-- Is as much claimed as a limit's concurrency allows?
EXISTS (SELECT 1 FROM pawl.outbox_limit f
         WHERE f.kind = {kind} AND f.name = {name} AND f.concurrency <= (SELECT count(*) FROM pawl.outbox_limit_claim u WHERE u.kind = f.kind AND u.name = f.name)
           AND f.concurrency <= (SELECT count(*) FROM pawl.outbox_limit_claim u
                WHERE u.kind = f.kind AND u.name = f.name AND (SELECT c.lo + c.n FROM pawl.outbox_claim c WHERE c.lo <= u.id ORDER BY c.lo DESC LIMIT 1) > u.id))
