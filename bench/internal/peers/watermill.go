package peers

import (
	"context"
	"database/sql"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	watersql "github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
)

const (
	watermillModule = "github.com/ThreeDotsLabs/watermill-sql/v3"
	watermillTopic  = "bench"
	// Messages are read in the order of (transaction_id, offset).
	watermillSettled = `SELECT NOT EXISTS (SELECT FROM watermill_bench m, watermill_offsets_bench o
 WHERE (m.transaction_id, m."offset") > (o.last_processed_transaction_id, o.offset_acked))`
)

// watermillQueue is a topic with one subscriber: a log of messages and the offset up to
// which they are acked.
type watermillQueue struct {
	db        *sql.DB
	schema    watersql.DefaultPostgreSQLSchema
	poll      time.Duration
	publisher *watersql.Publisher
	settled   func(context.Context) (bool, error)
}

// openWatermill takes how many messages a subscriber reads at once and how often it
// looks for more; 0 is Watermill's default.
func openWatermill(batch int, poll time.Duration) func(context.Context, Place) (Queue, error) {
	return func(_ context.Context, p Place) (Queue, error) {
		db, err := p.database()
		if err != nil {
			return nil, err
		}
		q := &watermillQueue{db: db, schema: watersql.DefaultPostgreSQLSchema{SubscribeBatchSize: batch}, poll: poll}
		q.settled = asks(db, watermillSettled)
		subscriber, err := q.subscriber()
		if err != nil {
			return nil, err
		}
		if err := subscriber.SubscribeInitialize(watermillTopic); err != nil {
			return nil, err
		}
		q.publisher, err = q.publish(db)
		return q, err
	}
}

func (q *watermillQueue) publish(by watersql.ContextExecutor) (*watersql.Publisher, error) {
	return watersql.NewPublisher(by, watersql.PublisherConfig{SchemaAdapter: q.schema}, nil)
}

func (q *watermillQueue) subscriber() (*watersql.Subscriber, error) {
	return watersql.NewSubscriber(q.db, watersql.SubscriberConfig{
		SchemaAdapter: q.schema, OffsetsAdapter: watersql.DefaultPostgreSQLOffsetsAdapter{}, PollInterval: q.poll,
	}, nil)
}

func (q *watermillQueue) Enqueue(_ context.Context, ids []int64) error {
	messages := make([]*message.Message, len(ids))
	for i, body := range Bodies(ids) {
		messages[i] = message.NewMessage(watermill.NewUUID(), body)
	}
	return q.publisher.Publish(watermillTopic, messages...)
}

func (q *watermillQueue) EnqueueTx(ctx context.Context, id int64) error {
	return InTx(ctx, q.db, func(tx *sql.Tx) error {
		publisher, err := q.publish(tx)
		if err != nil {
			return err
		}
		return publisher.Publish(watermillTopic, message.NewMessage(watermill.NewUUID(), Body(id)))
	})
}

func (q *watermillQueue) Run(ctx context.Context, handle func(id int64)) error {
	subscriber, err := q.subscriber()
	if err != nil {
		return err
	}
	messages, err := subscriber.Subscribe(ctx, watermillTopic)
	if err != nil {
		return err
	}
	for m := range messages {
		handle(ID(m.Payload))
		m.Ack()
	}
	return subscriber.Close()
}

func (q *watermillQueue) Settled(ctx context.Context) (bool, error) { return q.settled(ctx) }

func (q *watermillQueue) Close() { _ = q.db.Close() }
