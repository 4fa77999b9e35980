-- Erase what messages say, a JSON array of positions, their errors, results and steps included: those that
-- wait are cancelled and those that failed discarded, for good; those that are claimed are left alone.
-- Returns how many were erased.
CREATE PROCEDURE pawl.outbox_erase @ids nvarchar(max), @reason nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7), @got int, @spans nvarchar(max);
DECLARE @want TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @keys TABLE (size int NOT NULL);
DECLARE @failed TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
INSERT INTO @keys (size)
SELECT u.size FROM @want w INNER LOOP JOIN pawl.outbox_unique u WITH (UPDLOCK, ROWLOCK) ON u.id = w.id; -- before the runs, as an enqueue
EXEC @got = pawl.outbox_cancel @ids, @reason;
SET @now = SYSUTCDATETIME();
UPDATE e SET status = 4, next_attempt_at = NULL, updated_at = @now OUTPUT inserted.id INTO @failed (id)
FROM @want w INNER LOOP JOIN pawl.outbox_exception e WITH (FORCESEEK, ROWLOCK) ON e.id = w.id WHERE e.status = 3;
IF EXISTS (SELECT 1 FROM @failed)
BEGIN
  SET @spans = (SELECT f.id AS lo, 1 AS n FROM @failed f ORDER BY f.id FOR JSON PATH);
  EXEC pawl.outbox_order_release @spans;
END;
DELETE w FROM @want w WHERE NOT pawl.settled(w.id);
UPDATE e SET last_error = @reason, fingerprint = NULL, failed_at = NULL FROM @want w INNER LOOP JOIN pawl.outbox_exception e WITH (FORCESEEK, ROWLOCK) ON e.id = w.id;
DELETE a FROM @want w INNER LOOP JOIN pawl.outbox_attempt a WITH (FORCESEEK, ROWLOCK) ON a.id = w.id;
DELETE r FROM @want w INNER LOOP JOIN pawl.outbox_result r WITH (FORCESEEK, ROWLOCK) ON r.id = w.id;
DELETE r FROM @want w INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id = w.id
  INNER LOOP JOIN pawl.outbox_join_result r WITH (FORCESEEK, ROWLOCK) ON r.join_id = m.join_id AND r.id = m.id;
DELETE s FROM @want w INNER LOOP JOIN pawl.flow_step s WITH (FORCESEEK, ROWLOCK) ON s.id = w.id;
DELETE s FROM @want w INNER LOOP JOIN pawl.flow_signal s WITH (FORCESEEK, ROWLOCK) ON s.id = w.id;
DELETE s FROM @want w INNER LOOP JOIN pawl.flow_wait s WITH (FORCESEEK, ROWLOCK) ON s.id = w.id;
UPDATE m SET payload = 0x, headers = NULL, correlation_id = NULL FROM @want w INNER LOOP JOIN pawl.outbox_message m WITH (FORCESEEK, ROWLOCK) ON m.id = w.id;
SET @got = @@ROWCOUNT;
DELETE u FROM @want w INNER LOOP JOIN pawl.outbox_unique u WITH (ROWLOCK) ON u.id = w.id;
pawl.end_own()
RETURN @got;
END
