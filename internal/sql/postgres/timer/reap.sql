SELECT pawl.timer_reap()
