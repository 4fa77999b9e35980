SELECT r.ready, r.scheduled, r.retrying,
       CAST(coalesce((SELECT sum(n) FROM pawl.claim_table()), 0) AS bigint) AS claimed,
       CAST(coalesce((SELECT sum(n) FROM pawl.outbox_done), 0) AS bigint) AS done,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 3) AS failed,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 4) AS discarded,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 5) AS expired
  FROM (SELECT CAST(coalesce(sum(CASE WHEN at <= @began THEN n ELSE 0 END), 0) AS bigint) AS ready,
               CAST(coalesce(sum(CASE WHEN at > @began AND retry = 0 THEN n ELSE 0 END), 0) AS bigint) AS scheduled,
               CAST(coalesce(sum(CASE WHEN at > @began AND retry > 0 THEN n ELSE 0 END), 0) AS bigint) AS retrying
          FROM pawl.outbox_ready) r
