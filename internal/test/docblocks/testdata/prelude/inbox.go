package prelude

// A channel of a RabbitMQ client (github.com/rabbitmq/amqp091-go): as much of it as the page uses.
type channel struct{}

func (channel) Consume(queue, consumer string, autoAck, exclusive, noLocal, noWait bool, args map[string]any) (<-chan delivery, error)

type delivery struct {
	MessageId string
	Body      []byte
}

func (delivery) Ack(multiple bool) error
func (delivery) Nack(multiple, requeue bool) error
func (delivery) Reject(requeue bool) error

var (
	ch  channel
	id  string
	sum [sha256.Size]byte
)

func book(ctx context.Context, tx outbox.Tx, payment []byte) error
