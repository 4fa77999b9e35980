-- lock_joins()
-- Locks the joins of @asked that are pending, one after the other: everybody does so in the
-- same order. The update changes nothing; its lock is the one that counting takes.
SELECT @joins = coalesce(MAX(nr), 0) FROM @asked;
WHILE @nth <= @joins
BEGIN
  SET @seq = NULL;
  SELECT @seq = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = (SELECT a.join_id FROM @asked a WHERE a.nr = @nth);
  UPDATE pawl.outbox_join SET completed_steps = completed_steps WHERE seq = @seq AND status = 0;
  IF @@ROWCOUNT = 1
    INSERT INTO @held (join_id, seq, room) SELECT j.join_id, j.seq, j.expected_steps - j.completed_steps - j.failed_steps FROM pawl.outbox_join j WHERE j.seq = @seq;
  SET @nth = @nth + 1;
END;
