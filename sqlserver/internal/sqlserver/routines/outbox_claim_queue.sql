-- Claim up to @most due messages of a queue, but for suspects: see the macro claim_regular. Messages with
-- ordering keys are put in order before. While there are limits, or with a topic @apart, which is
-- treated as one with a limit so that others are found behind it, outbox_claim_within_limits does it.
-- @answer: see the macro claimed_rows. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_queue @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @answer nvarchar(10), @claimed nvarchar(max) = NULL OUTPUT, @wait bigint = NULL, @apart nvarchar(510) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @all bigint;
IF @apart IS NOT NULL OR pawl.limited(@queue)
BEGIN
  EXEC pawl.outbox_claim_within_limits N'regular', @queue, @owner, @lease, @most, @versioned, 0, @all OUTPUT, @answer, @claimed OUTPUT, @wait, @apart;
  RETURN;
END;
pawl.claim_tables()
DECLARE @turns nvarchar(max), @base int;
IF EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 1) AND NOT pawl.paused(@queue)
BEGIN
  EXEC pawl.outbox_sequence @queue, @most, @versioned;
  pawl.add_turns(1)
END;
pawl.claim_regular(pawl.exactly(l.queue, @queue) AND l.kind = 0)
IF @turns IS NOT NULL -- others left room
BEGIN
pawl.add_turns(0)
END;
pawl.claimed_rows()
END
