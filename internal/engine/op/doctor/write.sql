UPDATE pawl.outbox_ready SET retry = retry WHERE false
