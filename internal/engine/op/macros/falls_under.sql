-- falls_under(pattern, topic)
-- Does a topic begin as a pattern does, before the *?
substr({topic}, 1, length({pattern}) - 1) = substr({pattern}, 1, length({pattern}) - 1)
