SELECT pawl.columns(i) FROM pawl.inbox i
 WHERE pawl.exactly(i.source, @source) AND (@status IS NULL OR i.status = @status) AND (@idle IS NULL OR i.last_seen_utc < pawl.minus(@now, @idle))
   AND pawl.after(i.source, i.message_id, @after_source, @after_message_id) ORDER BY i.source, i.message_id pawl.limit(@most)
