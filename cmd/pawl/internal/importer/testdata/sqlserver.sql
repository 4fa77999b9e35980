SELECT c.TABLE_NAME, c.COLUMN_NAME, c.DATA_TYPE
  FROM INFORMATION_SCHEMA.TABLES t INNER JOIN INFORMATION_SCHEMA.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
 WHERE t.TABLE_TYPE = 'BASE TABLE' AND t.TABLE_SCHEMA = coalesce(nullif(@p1, ''), SCHEMA_NAME()) ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[MessageId]), t.[Topic], t.[Payload], t.[DueTimeUtc], t.[NextAttemptAt], t.[CorrelationId], NULL, NULL FROM [dbo].[Outbox] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE t.[Status] = 0 AND t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) ORDER BY t.[CreatedAt], t.[Id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[MessageId]), t.[Topic], t.[Payload], t.[DueTimeUtc], t.[NextAttemptAt], t.[CorrelationId], NULL, NULL FROM [dbo].[Outbox] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE t.[Status] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME() AND t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) ORDER BY t.[CreatedAt], t.[Id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[MessageId]), t.[Topic], t.[Payload], t.[DueTimeUtc], t.[NextAttemptAt], t.[CorrelationId], NULL, NULL FROM [dbo].[Outbox] AS t WHERE (t.[Status] = 0 OR t.[Status] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) AND t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) ORDER BY t.[CreatedAt], t.[Id];
GO
UPDATE [dbo].[Outbox] SET [Status] = 2, [LockedUntil] = NULL, [OwnerToken] = NULL, [IsProcessed] = 1, [ProcessedAt] = SYSUTCDATETIME(), [ProcessedBy] = 'pawl import' WHERE [Id] IN (@p1, @p2);
GO
SELECT count(*) FROM [dbo].[Outbox] AS t WHERE ((t.[Status] = 0 OR t.[Status] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) AND t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0)) AND t.[Id] IN (@p1, @p2);
GO
SELECT coalesce(sum(x.n0), 0), coalesce(sum(x.n1), 0), coalesce(sum(x.n2), 0), coalesce(sum(x.n3), 0), coalesce(sum(x.n4), 0) FROM (SELECT CASE WHEN (t.[Status] = 0 OR t.[Status] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) AND t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) THEN 1 ELSE 0 END AS n0, CASE WHEN t.[Status] = 1 AND CASE WHEN t.[LockedUntil] <= SYSUTCDATETIME() THEN 0 ELSE 1 END = 1 THEN 1 ELSE 0 END AS n1, CASE WHEN t.[Status] = 2 THEN 1 ELSE 0 END AS n2, CASE WHEN t.[Status] = 3 THEN 1 ELSE 0 END AS n3, CASE WHEN (t.[Status] = 0 OR t.[Status] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) AND NOT (t.[Topic] <> 'join.wait' AND t.[Id] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0) AND t.[MessageId] NOT IN (SELECT m.[OutboxMessageId] FROM [dbo].[OutboxJoinMember] m INNER JOIN [dbo].[OutboxJoin] j ON j.[JoinId] = m.[JoinId] WHERE j.[Status] = 0)) THEN 1 ELSE 0 END AS n4 FROM [dbo].[Outbox] AS t) x;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[Id]), t.[Topic], t.[Payload], t.[DueTime], NULL, t.[CorrelationId], NULL, NULL FROM [dbo].[Timers] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE t.[Status] = 'Pending' ORDER BY t.[DueTime], t.[Id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[Id]), t.[Topic], t.[Payload], t.[DueTime], NULL, t.[CorrelationId], NULL, NULL FROM [dbo].[Timers] AS t WHERE (t.[Status] = 'Pending') ORDER BY t.[DueTime], t.[Id];
GO
UPDATE [dbo].[Timers] SET [Status] = 'Moved', [ProcessedAt] = SYSUTCDATETIME() WHERE [Id] IN (@p1, @p2);
GO
SELECT count(*) FROM [dbo].[Timers] AS t WHERE ((t.[Status] = 'Pending')) AND t.[Id] IN (@p1, @p2);
GO
SELECT coalesce(sum(x.n0), 0), coalesce(sum(x.n1), 0) FROM (SELECT CASE WHEN (t.[Status] = 'Pending') THEN 1 ELSE 0 END AS n0, CASE WHEN t.[Status] <> 'Pending' THEN 1 ELSE 0 END AS n1 FROM [dbo].[Timers] AS t) x;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[Id]), coalesce((SELECT j.[Topic] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), coalesce((SELECT j.[Payload] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), t.[ScheduledTime], NULL, NULL, NULL, NULL FROM [dbo].[JobRuns] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE t.[StatusCode] = 0 ORDER BY t.[ScheduledTime], t.[Id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[Id]), coalesce((SELECT j.[Topic] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), coalesce((SELECT j.[Payload] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), t.[ScheduledTime], NULL, NULL, NULL, NULL FROM [dbo].[JobRuns] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE t.[StatusCode] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME() ORDER BY t.[ScheduledTime], t.[Id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT CONVERT(nvarchar(36), t.[Id]), CONVERT(nvarchar(36), t.[Id]), coalesce((SELECT j.[Topic] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), coalesce((SELECT j.[Payload] FROM [dbo].[Jobs] j WHERE j.[Id] = t.[JobId]), ''), t.[ScheduledTime], NULL, NULL, NULL, NULL FROM [dbo].[JobRuns] AS t WHERE (t.[StatusCode] = 0 OR t.[StatusCode] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) ORDER BY t.[ScheduledTime], t.[Id];
GO
UPDATE [dbo].[JobRuns] SET [Status] = 'Moved', [EndTime] = SYSUTCDATETIME(), [StatusCode] = 2, [LockedUntil] = NULL, [OwnerToken] = NULL WHERE [Id] IN (@p1, @p2);
GO
SELECT count(*) FROM [dbo].[JobRuns] AS t WHERE ((t.[StatusCode] = 0 OR t.[StatusCode] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME())) AND t.[Id] IN (@p1, @p2);
GO
SELECT coalesce(sum(x.n0), 0), coalesce(sum(x.n1), 0), coalesce(sum(x.n2), 0), coalesce(sum(x.n3), 0) FROM (SELECT CASE WHEN (t.[StatusCode] = 0 OR t.[StatusCode] = 1 AND t.[LockedUntil] <= SYSUTCDATETIME()) THEN 1 ELSE 0 END AS n0, CASE WHEN t.[StatusCode] = 1 AND CASE WHEN t.[LockedUntil] <= SYSUTCDATETIME() THEN 0 ELSE 1 END = 1 THEN 1 ELSE 0 END AS n1, CASE WHEN t.[StatusCode] = 2 THEN 1 ELSE 0 END AS n2, CASE WHEN t.[StatusCode] = 3 THEN 1 ELSE 0 END AS n3 FROM [dbo].[JobRuns] AS t) x;
GO
SELECT t.[id], t.[id], NULL, t.[body], NULL, NULL, NULL, NULL, NULL FROM [dbo].[odd]]name] AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE (t.[sent_at] IS NULL OR t.[sent_at] = @p1) ORDER BY t.[id] OFFSET 10 ROWS FETCH NEXT 500 ROWS ONLY;
GO
SELECT t.[id], t.[id], NULL, t.[body], NULL, NULL, NULL, NULL, NULL FROM [dbo].[odd]]name] AS t WHERE (t.[sent_at] IS NULL OR t.[sent_at] = @p1) ORDER BY t.[id];
GO
UPDATE [dbo].[odd]]name] SET [sent_at] = SYSUTCDATETIME() WHERE [id] IN (@p1, @p2);
GO
SELECT count(*) FROM [dbo].[odd]]name] AS t WHERE ((t.[sent_at] IS NULL OR t.[sent_at] = @p1)) AND t.[id] IN (@p2, @p3);
GO
SELECT coalesce(sum(x.n0), 0) FROM (SELECT CASE WHEN (t.[sent_at] IS NULL OR t.[sent_at] = @p1) THEN 1 ELSE 0 END AS n0 FROM [dbo].[odd]]name] AS t) x;
GO
