DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_park @join_id, @owner, @id;
SELECT CAST(@GOT AS bigint) AS n
