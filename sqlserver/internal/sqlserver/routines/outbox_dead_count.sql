-- Count what outbox_dead chooses: for those who may do nothing else with it.
CREATE PROCEDURE pawl.outbox_dead_count @ids nvarchar(max), @topic nvarchar(510), @queue nvarchar(510), @error nvarchar(max), @since datetime2(7), @before datetime2(7),
  @after bigint, @look int, @most bigint, @got bigint OUTPUT, @last bigint OUTPUT, @ended bigint OUTPUT, @fingerprint nvarchar(400) = NULL, @discarded bigint = 0, @act uniqueidentifier = NULL AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.outbox_dead N'count', @ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @got OUTPUT, @last OUTPUT, @ended OUTPUT, @fingerprint, @discarded, @act;
END
