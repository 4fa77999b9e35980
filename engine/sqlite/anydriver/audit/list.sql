-- What operators did, newest first. ?1 now, ?2 only before this time, and ?3 id at that time; ?4 actor or null, ?5 action or null, ?6 how many.
SELECT id, at, actor, action, target, reason, n FROM pawl.audit_trail
 WHERE at <= ?2 AND (at, id) < (?2, ?3) AND (?4 IS NULL OR actor = ?4) AND (?5 IS NULL OR action = ?5) ORDER BY at DESC, id DESC LIMIT ?6
