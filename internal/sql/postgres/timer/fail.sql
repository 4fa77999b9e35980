SELECT pawl.timer_end_rows(@owner, @timer_ids, 3, @error)
