SELECT pawl.elapsed(@now, pawl.next_job()) AS micros
