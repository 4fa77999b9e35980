SELECT CAST(coalesce((SELECT sum(n) FROM pawl.outbox_ready WHERE at <= @began), 0) AS bigint) AS ready,
       CAST(coalesce((SELECT sum(n) FROM pawl.outbox_ready WHERE at > @began AND retry = 0), 0) AS bigint) AS scheduled,
       CAST(coalesce((SELECT sum(n) FROM pawl.outbox_ready WHERE at > @began AND retry > 0), 0) AS bigint) AS retrying,
       CAST(coalesce((SELECT sum(n) FROM pawl.claim_table()), 0) AS bigint) AS claimed,
       CAST(coalesce((SELECT sum(n) FROM pawl.outbox_done), 0) AS bigint) AS done,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 3) AS failed,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 4) AS discarded,
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 5) AS expired
