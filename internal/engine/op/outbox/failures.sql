SELECT g.topic, g.fingerprint, g.n, g.first_at, g.last_at, g.id, x.last_error AS error
  FROM (SELECT f.topic, f.fingerprint, count(*) AS n, min(f.updated_at) AS first_at, max(f.updated_at) AS last_at, max(f.id) AS id
          FROM (SELECT e.id, e.updated_at, m.topic, pawl.print(e) AS fingerprint
                  FROM pawl.outbox_exception e pawl.join_row(pawl.outbox_message, m, m.id = e.id)
                 WHERE e.status >= 3 AND e.status = 3 AND e.id < @below AND e.id >= @floor AND m.id < @below AND m.id >= @floor
                   AND (@topic IS NULL OR m.topic = @topic) AND (@queue IS NULL OR m.lane IN (SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = @queue))
                   AND (@error IS NULL OR pawl.contains(e.last_error, @error)) AND (@fingerprint IS NULL OR pawl.print(e) = @fingerprint)
                   AND (@since IS NULL OR e.updated_at >= @since) AND (@before IS NULL OR e.updated_at < @before)) f
         GROUP BY f.topic, f.fingerprint) g
  pawl.join_row(pawl.outbox_exception, x, x.id = g.id)
