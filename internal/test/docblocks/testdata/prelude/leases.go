package prelude

var l *lease.Lease

func closeBooks(context.Context) error
