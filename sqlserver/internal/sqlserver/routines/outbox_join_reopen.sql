-- Take the failures of messages that were redriven back in joins that are still pending
-- (D-38). @ids is a JSON array of positions, each as id.
CREATE PROCEDURE pawl.outbox_join_reopen @ids nvarchar(max) AS
BEGIN
DECLARE @back TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.join_tables()
pawl.begin_own()
INSERT INTO @back (id) SELECT DISTINCT x.id FROM OPENJSON(@ids) WITH (id bigint) x;
INSERT INTO @asked (nr, join_id)
SELECT ROW_NUMBER() OVER (ORDER BY x.join_id), x.join_id
  FROM (SELECT DISTINCT m.join_id FROM @back b INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id = b.id WHERE m.status = 2) x;
pawl.lock_joins()
INSERT INTO @step (seq, join_id, id)
SELECT m.seq, m.join_id, m.id FROM @back b INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id = b.id
 WHERE m.status = 2 AND EXISTS (SELECT 1 FROM @held h WHERE h.join_id = m.join_id);
pawl.set_members()
UPDATE j SET failed_steps = j.failed_steps - x.n, last_updated_utc = SYSUTCDATETIME()
  FROM pawl.outbox_join j INNER JOIN @held h ON h.seq = j.seq INNER JOIN (SELECT s.join_id, COUNT(*) AS n FROM @step s GROUP BY s.join_id) x ON x.join_id = h.join_id;
pawl.end_own()
END
