DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_results @results;
SELECT CAST(@GOT AS bigint) AS n
