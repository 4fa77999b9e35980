DELETE FROM pawl.flow_signal WHERE id = @id AND name = ''
