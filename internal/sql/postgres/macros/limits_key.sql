-- limits_key()
-- What claims that obey limits hold shared until their transactions end, and whoever changes which
-- limits and lanes of limits there are holds alone.
hashtextextended('pawl.outbox_limits', 0)
