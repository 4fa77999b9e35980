SELECT 1 AS found WHERE pawl.under_limit(@queue, @topic)
