DELETE FROM pawl.flow_signal WHERE id >= @lo AND id < @end
