DELETE FROM pawl.flow_wait WHERE id >= @lo AND id < @end
