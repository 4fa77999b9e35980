SELECT pawl.outbox_unpark_runs(@topic, @most)
