-- Claim up to @most messages of lanes of a queue, a JSON array with id, without regard to limits: @what
-- is N'regular', see the macro claim_regular, or N'suspects', see claim_suspects. @claimed: the runs. For
-- a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_lanes @what nvarchar(10), @lanes nvarchar(max), @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @wait bigint, @claimed nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
pawl.claim_tables()
IF @what = N'suspects'
BEGIN
pawl.claim_suspects(l.id IN (SELECT x.id FROM OPENJSON(@lanes) WITH (id bigint) x))
END
ELSE
BEGIN
pawl.claim_regular(l.id IN (SELECT x.id FROM OPENJSON(@lanes) WITH (id bigint) x))
END;
pawl.claimed_runs()
END
