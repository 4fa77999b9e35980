-- Claim suspects of a queue, unless they are left out, or, where there are none, others: for programs that claim
-- themselves. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_any @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @answer nvarchar(10), @suspects bit = 1 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got bigint = 0;
IF @suspects = 1
  EXEC pawl.outbox_claim_queue_suspects @queue, @owner, @lease, @most, @versioned, @answer, 1, @got OUTPUT;
IF @got = 0
  EXEC pawl.outbox_claim_queue @queue, @owner, @lease, @most, @versioned, @answer;
END
