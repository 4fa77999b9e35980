-- Ack a message in a program's own transaction, with its result unless that is empty. Returns 1, or 0 if
-- @owner does not hold it.
CREATE PROCEDURE pawl.outbox_ack_one @owner uniqueidentifier, @id bigint, @worker nvarchar(510), @result varbinary(max) AS
BEGIN
DECLARE @got int, @runs nvarchar(max) = (SELECT @owner AS owner, @id AS lo, 1 AS n FOR JSON PATH);
DECLARE @list pawl.outbox_result_list;
pawl.begin_own()
IF DATALENGTH(@result) > 0
BEGIN
  INSERT INTO @list (owner, id, result) VALUES (@owner, @id, @result);
  EXEC pawl.outbox_join_results @list;
END;
EXEC @got = pawl.outbox_ack_runs @runs, @worker;
pawl.end_own()
RETURN @got;
END
