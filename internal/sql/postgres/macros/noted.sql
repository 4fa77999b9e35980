-- noted(action, n)
-- What an operator's routine did, in the audit trail, which a caller without an id does not avoid.
pawl.audit_note(coalesce(p_note, gen_random_uuid()), coalesce(p_actor, session_user::text), {action}, coalesce(p_target, ''), p_reason, {n})
