-- full_limit(kind, name)
-- Is as much claimed as a limit's concurrency allows? Those that are no longer claimed are read
-- only where they make the difference.
EXISTS (SELECT 1 FROM pawl.outbox_limit f
         WHERE f.kind = {kind} AND f.name = {name} AND f.concurrency <= pawl.limit_counted(f) AND f.concurrency <= pawl.limit_claimed(f))
