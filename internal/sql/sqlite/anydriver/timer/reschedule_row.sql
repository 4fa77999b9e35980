UPDATE pawl.timer SET due_time = coalesce(@due, @now), at = coalesce(@due, @now) WHERE id = pawl.whereabouts(@timer_id, @carried) AND status = 0
