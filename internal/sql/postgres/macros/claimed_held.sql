-- claimed_held(held)
-- Messages that a routine claims for a queue's claim, returned as those of claim_regular.
RETURN QUERY SELECT pawl.message(m), h.retry, h.priority, h.locked_until, h.at, h.length FROM pawl.held_messages({held}) ORDER BY h.nr;
GET DIAGNOSTICS v_got = ROW_COUNT;
v_need := v_need - v_got;
