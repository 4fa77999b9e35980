package prelude

import "github.com/ThreeDotsLabs/watermill/message"

type Config struct{}

func book(context.Context, pawl.Tx) error

var (
	publisher    message.Publisher
	msg          *message.Message
	OrderExpires = pawl.NewTopic[Order]("order.expires")
	Report       = pawl.NewTopic[Config]("report")
	o            Order
	config       Config
	control      *sql.DB
)
