-- ignores @most: those that are not chosen are read, too
SELECT e.id AS id, m.lane AS lane,
       (@topic IS NULL OR m.topic = @topic) AND (@queue IS NULL OR m.lane IN (SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = @queue))
       AND (@error IS NULL OR pawl.contains(coalesce(e.last_error, ''), @error)) AND (@fingerprint IS NULL OR coalesce(pawl.print(e), '') = @fingerprint) AND (@since IS NULL OR coalesce(e.failed_at, e.updated_at) >= @since) AND (@before IS NULL OR coalesce(e.failed_at, e.updated_at) < @before)
       AND (@discarded = 0 OR e.failed_at IS NOT NULL AND e.updated_at >= @now - @discarded AND (@act IS NULL OR e.discard_id = @act)
            AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_wait w WHERE w.id = e.id AND w.replaced)) AS chosen
  FROM pawl.outbox_exception e JOIN pawl.outbox_message m ON m.id = e.id
 WHERE e.status >= 3 AND e.status = iif(@discarded > 0, 4, 3) AND e.id > @after AND (@ids IS NULL OR e.id IN (SELECT value FROM json_each(@ids)))
 ORDER BY e.id LIMIT @look
