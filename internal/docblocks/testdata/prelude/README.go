package prelude

type Config struct{}

func book(context.Context, pawl.Tx) error

var (
	OrderExpires = pawl.NewTopic[Order]("order.expires")
	Report       = pawl.NewTopic[Config]("report")
	o            Order
	config       Config
	control      *sql.DB
)
