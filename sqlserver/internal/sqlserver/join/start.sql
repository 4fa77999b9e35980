DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_put @join_id, @grouping_key, @expected_steps, @metadata, @deadline_utc;
SET NOCOUNT OFF;
pawl.changed(@GOT)
