UPDATE pawl.timer SET status = 1, owner = @owner, claimed_at = @now, locked_until = @now + @lease, suspect = @suspects WHERE id IN (SELECT value FROM json_each(@ids))
