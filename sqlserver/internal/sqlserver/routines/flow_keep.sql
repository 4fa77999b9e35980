-- Store steps of flows, in order of their ids, whose messages their owners hold. One that is stored
-- already stays as it is. Returns how many are held.
CREATE PROCEDURE pawl.flow_keep @steps pawl.flow_step_list READONLY AS
BEGIN
DECLARE @got int;
DECLARE @asked TABLE (nr int NOT NULL PRIMARY KEY, owner uniqueidentifier NOT NULL, id bigint NOT NULL);
pawl.held_tables()
pawl.begin_own()
INSERT INTO @asked (nr, owner, id) SELECT ROW_NUMBER() OVER (ORDER BY s.id, s.owner), s.owner, s.id FROM @steps s;
pawl.hold_claimed()
SELECT @got = COUNT(*) FROM @asked;
INSERT INTO pawl.flow_step (id, name, kind, nr, retry, signal, result)
SELECT s.id, s.name, s.kind, s.nr, s.retry, s.signal, s.result FROM @steps s INNER JOIN @asked a ON a.id = s.id AND a.owner = s.owner
 WHERE NOT EXISTS (SELECT 1 FROM pawl.flow_step x WHERE x.id = s.id AND pawl.exactly(x.name, s.name) AND x.kind = s.kind);
pawl.end_own()
RETURN @got;
END
