SELECT pawl.columns(a) FROM pawl.audit_trail a
 WHERE pawl.before(a.at, a.id, @before, @before_id) AND (@actor IS NULL OR a.actor = @actor) AND (@action IS NULL OR a.action = @action) ORDER BY a.at DESC, a.id DESC pawl.limit(@most)
