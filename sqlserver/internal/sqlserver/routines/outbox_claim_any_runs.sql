-- Claim suspects of a queue or, where there are none, others: for programs that claim
-- themselves. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_any_runs @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @text bit = 0 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got bigint;
EXEC pawl.outbox_claim_suspect_runs @queue, @owner, @lease, @most, @versioned, 1, @got OUTPUT, @text;
IF @got = 0
  EXEC pawl.outbox_claim_runs @queue, @owner, @lease, @most, @versioned, @text;
END
