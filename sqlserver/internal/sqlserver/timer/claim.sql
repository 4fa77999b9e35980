DECLARE @IDS nvarchar(max);
DECLARE @DUE TABLE (at datetime2(7) NOT NULL, id bigint NOT NULL, PRIMARY KEY (at, id));
EXEC pawl.timer_claim_rows @owner, @lease, @most, @IDS OUTPUT;
INSERT INTO @DUE (at, id) SELECT t.at, t.id FROM OPENJSON(@IDS) WITH (id bigint) x INNER LOOP JOIN pawl.timer t ON t.id = x.id;
SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM @DUE d INNER LOOP JOIN pawl.timer t ON t.id = d.id LEFT LOOP JOIN pawl.outbox_lane l ON l.id = t.lane ORDER BY d.at, d.id
