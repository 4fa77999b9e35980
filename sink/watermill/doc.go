// Package watermill joins pawl and Watermill (github.com/ThreeDotsLabs/watermill).
//
// Forward publishes the messages of an outbox by any message.Publisher: to Kafka, NATS
// JetStream, RabbitMQ, Redis, SQS, Pub/Sub and whatever else Watermill has a publisher for.
//
//	watermill.Forward(p, "order.*", publisher, watermill.ForwardOptions{})
//
// NewPublisher returns a message.Publisher that enqueues messages, and its WithTx one that does
// so in a transaction of the program:
//
//	err := publisher.WithTx(tx).Publish("order.created", msg)
//
// NewSubscriber returns a message.Subscriber that delivers messages of a database, for programs
// that need no broker.
//
// Delivery is at least once: consumers recognize a message by its UUID.
package watermill
