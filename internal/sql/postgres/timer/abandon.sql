SELECT pawl.timer_abandon_rows(@owner, @timer_ids, @delay, @error)
