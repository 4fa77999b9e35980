SELECT pawl.columns(i) FROM pawl.inbox i
 WHERE i.status = 'Dead' AND pawl.after(i.source, i.message_id, @after_source, @after_message_id) ORDER BY i.source, i.message_id pawl.limit(@most)
