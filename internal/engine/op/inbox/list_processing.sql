SELECT pawl.columns(i) FROM pawl.inbox i
 WHERE i.status = 'Processing' AND i.last_seen_utc < pawl.minus(@now, @idle) AND pawl.after(i.source, i.message_id, @after_source, @after_message_id)
 ORDER BY i.source, i.message_id pawl.limit(@most)
