-- Messages enqueued through SQL have ids of their own, above 2^47: below them there is
-- another newest.
SET NOCOUNT ON;
DECLARE @LOOK TABLE (id bigint NOT NULL PRIMARY KEY);
INSERT INTO @LOOK (id)
SELECT a.id FROM (SELECT TOP (@sample) x.id FROM pawl.outbox_message x ORDER BY x.id) a
UNION SELECT b.id FROM (SELECT TOP (@sample) x.id FROM pawl.outbox_message x ORDER BY x.id DESC) b
UNION SELECT c.id FROM (SELECT TOP (@sample) x.id FROM pawl.outbox_message x WHERE x.id < 140737488355328 ORDER BY x.id DESC) c;
SELECT p.id, CAST(p.places AS bigint) AS places
  FROM (SELECT m.id, CASE WHEN pawl.holds(pawl.outbox_ready, m.id) THEN 1 ELSE 0 END
             + CASE WHEN pawl.holds(pawl.outbox_claimed, m.id) THEN 1 ELSE 0 END
             + CASE WHEN pawl.holds(pawl.outbox_done, m.id) THEN 1 ELSE 0 END
             + CASE WHEN EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) THEN 1 ELSE 0 END AS places
          FROM @LOOK m) p
 WHERE p.places <> 1 ORDER BY p.id pawl.limit(@most)
