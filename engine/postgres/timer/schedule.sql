SELECT pawl.timer_schedule_rows(@timers.id, @timers.timer_id, @timers.topic, @timers.correlation_id, @timers.headers, @timers.payload, @timers.lane,
  @timers.due, @timers.supplied, @timers.carried, @timers.key)
