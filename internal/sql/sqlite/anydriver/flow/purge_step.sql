DELETE FROM pawl.flow_step WHERE id >= @lo AND id < @end
