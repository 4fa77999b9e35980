UPDATE pawl.outbox_ready SET retry = retry WHERE pawl.never()
