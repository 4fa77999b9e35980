package prelude

var orderID string

func expire(context.Context, *pawl.Delivery[Order]) error
func fire(*timer.Info) error
