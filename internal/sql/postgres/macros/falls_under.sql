-- falls_under(pattern, topic)
-- Does a topic begin as a pattern does, before the *?
starts_with({topic}, left({pattern}, -1))
