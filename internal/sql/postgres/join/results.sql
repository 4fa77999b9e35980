SELECT pawl.outbox_join_results(@results.owner, @results.id, @results.result)
