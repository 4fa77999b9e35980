SELECT s.id AS id, s.owner AS owner, s.reason AS reason, pawl.truth(pawl.stopping(s)) AS claimed FROM pawl.outbox_stopping s ORDER BY s.id pawl.limit(1000)
