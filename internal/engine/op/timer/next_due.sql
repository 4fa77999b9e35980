SELECT pawl.elapsed(@now, pawl.next_timer()) AS micros
