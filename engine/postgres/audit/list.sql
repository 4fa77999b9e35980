-- What operators did, newest first. $1 only before this time, and $2 id at that time; $3 actor or null, $4 action or null, $5 how many.
SELECT id, at, actor, action, target, reason, n FROM pawl.audit_trail
 WHERE (at, id) < ($1::timestamptz, $2::uuid) AND ($3::text IS NULL OR actor = $3) AND ($4::text IS NULL OR action = $4) ORDER BY at DESC, id DESC LIMIT $5
