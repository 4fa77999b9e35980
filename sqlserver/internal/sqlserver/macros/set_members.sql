-- set_members()
-- Gives the members of @step their status, and adds them up for each join: a change of
-- counters is a change of the join that lock_joins locked.
SET @from = 0;
WHILE 1 = 1
BEGIN
  SELECT @upto = MAX(x.seq) FROM (SELECT TOP (1000) s.seq FROM @step s WHERE s.seq > @from ORDER BY s.seq) x;
  IF @upto IS NULL BREAK;
  UPDATE m SET status = s.status FROM pawl.outbox_join_member m INNER JOIN @step s ON s.seq = m.seq WHERE s.seq > @from AND s.seq <= @upto;
  SET @from = @upto;
END;
