-- under_limit(queue, topic)
EXISTS (SELECT 1 FROM pawl.outbox_limit f
         WHERE f.kind = 'queue' AND f.name = {queue} OR f.kind = 'topic' AND f.name = {topic} OR f.kind = 'each' AND pawl.falls_under(f.name, {topic}))
