-- End the timers that became messages. Parameters as in dispatch_messages.
UPDATE pawl.timer INDEXED BY pawl.timer_pending SET status = 2, processed_at = ?1, payload = '' WHERE status = 0 AND (at, id) <= (?2, ?3)
