SELECT pawl.columns(a) FROM pawl.activity a
  JOIN (SELECT DISTINCT f.queue, f.topic FROM pawl.activity f WHERE f.grain = 1 AND f.minute >= @from AND f.minute < @until AND f.retried + f.failed + f.unhandled > 0) x
    ON x.queue = a.queue AND x.topic = a.topic
 WHERE a.grain = 1 AND a.minute >= @from AND a.minute < @until
 ORDER BY a.minute, a.queue, a.topic, a.worker pawl.limit(@most)
