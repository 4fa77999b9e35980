package prelude

type Config struct{}

var (
	config  Config
	limits  Config
	Report  = pawl.NewTopic[Config]("report")
	Cleanup = pawl.NewTopic[Config]("cleanup")
)

func report(context.Context, *pawl.Delivery[Config]) error
