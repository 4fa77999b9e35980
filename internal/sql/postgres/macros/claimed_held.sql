-- claimed_held(held)
-- Messages that a routine claims for a queue's claim, returned as those of claim_regular.
IF {held} <> '{}' THEN
  RETURN QUERY pawl.held_rows({held});
  GET DIAGNOSTICS v_got = ROW_COUNT;
  v_need := v_need - v_got;
END IF;
