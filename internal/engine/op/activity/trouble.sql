SELECT pawl.columns(a) FROM pawl.activity a
  JOIN (SELECT DISTINCT f.queue, f.topic FROM pawl.activity f WHERE f.grain = 1 AND f.minute > pawl.minute(@now) - @minutes AND f.retried + f.failed + f.unhandled > 0) x
    ON x.queue = a.queue AND x.topic = a.topic
 WHERE a.grain = 1 AND a.minute > pawl.minute(@now) - @minutes
 ORDER BY a.minute, a.queue, a.topic, a.worker pawl.limit(@most)
