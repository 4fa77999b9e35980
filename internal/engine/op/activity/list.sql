SELECT pawl.columns(a) FROM pawl.activity a
 WHERE a.grain = @grain AND a.minute >= @from AND a.minute < @until AND (@queue IS NULL OR a.queue = @queue) AND (@topic IS NULL OR a.topic = @topic)
 ORDER BY a.minute, a.queue, a.topic, a.worker pawl.limit(@most)
