SELECT pawl.timer_schedule_rows(@timers.id, @timers.message_id, @timers.topic, @timers.correlation_id, @timers.headers, @timers.payload, @timers.lane,
  @timers.due_at, @timers.supplied, @timers.carried, @timers.key)
