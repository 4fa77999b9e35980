SELECT 1 AS found FROM pawl.flow_signal s WHERE s.id = @id AND (s.name = '' OR s.name = @name)
   AND NOT EXISTS (SELECT 1 FROM pawl.flow_step t WHERE t.id = s.id AND t.signal = s.nr) LIMIT 1
