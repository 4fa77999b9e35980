DELETE FROM pawl.outbox_bulk WHERE ended_at < pawl.minus(@now, @age)
