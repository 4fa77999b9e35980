-- falls_under(pattern, topic)
-- Does a topic begin as a pattern does, before the *?
pawl.exactly(LEFT({topic}, LEN({pattern}) - 1), LEFT({pattern}, LEN({pattern}) - 1))
