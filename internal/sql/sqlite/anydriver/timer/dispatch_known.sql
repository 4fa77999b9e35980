UPDATE pawl.timer SET status = 2, processed_at = @now, payload = '' WHERE id = @id
