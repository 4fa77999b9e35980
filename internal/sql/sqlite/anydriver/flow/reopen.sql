DELETE FROM pawl.flow_step WHERE id = @id
   AND (kind IN (1, 4) OR EXISTS (SELECT 1 FROM pawl.flow_step x WHERE x.id = @id AND substr(x.name, -5) = '#undo'))
