SELECT pawl.timer_dispatch(@most)
