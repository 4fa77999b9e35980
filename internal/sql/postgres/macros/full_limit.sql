-- full_limit(kind, name)
-- Is as much claimed as a limit's concurrency allows? Those that are no longer claimed are read
-- only where they make the difference.
EXISTS (SELECT FROM pawl.outbox_limit f
         WHERE f.kind = {kind} AND f.name = {name} AND f.concurrency <= (SELECT sum(1 + coalesce(cardinality(u.more), 0)) FROM pawl.outbox_limit_claim u WHERE u.kind = f.kind AND u.name = f.name)
           AND f.concurrency <= pawl.limit_claimed(f))
