package prelude

var (
	Report = pawl.NewTopic[string]("report")
	Pack   = pawl.NewTopic[Order]("pack")
	Label  = pawl.NewTopic[Order]("label")
	Ship   = pawl.NewTopic[Order]("ship")
	Alert  = pawl.NewTopic[Order]("alert")

	config string
)

func report(context.Context, *pawl.Delivery[string]) error
