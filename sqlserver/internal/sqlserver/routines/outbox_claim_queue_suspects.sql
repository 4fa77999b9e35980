-- Claim due suspects of a queue, within its limits: see the macro claim_suspects. @got: how many; @quiet:
-- no answer where there are none; @answer: see the macro claimed_rows. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_queue_suspects @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @answer nvarchar(10), @quiet bit = 0, @got bigint = NULL OUTPUT, @claimed nvarchar(max) = NULL OUTPUT AS
BEGIN
SET NOCOUNT ON;
IF pawl.limited(@queue)
BEGIN
  EXEC pawl.outbox_claim_within_limits N'suspects', @queue, @owner, @lease, @most, @versioned, @quiet, @got OUTPUT, @answer, @claimed OUTPUT, NULL, NULL;
  RETURN;
END;
pawl.claim_tables()
pawl.claim_suspects(pawl.exactly(l.queue, @queue) AND l.kind = 0)
SET @got = @part;
IF @got = 0 AND @quiet = 1 RETURN;
pawl.claimed_rows()
END
