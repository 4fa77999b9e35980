package prelude

type Config struct{}

var (
	config          Config
	nightly, weekly job.Job
)

func report(context.Context, *pawl.Delivery[Config]) error
