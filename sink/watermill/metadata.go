package watermill

import (
	"maps"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl/outbox"
)

const (
	// CorrelationIDMetadata is the metadata of a message's correlation id. It is the key that
	// Watermill's middleware has.
	CorrelationIDMetadata = "correlation_id"
	// OrderingKeyMetadata is the metadata of a message's ordering key; see PartitionKey.
	OrderingKeyMetadata = "pawl-ordering-key"
	// OriginalUUIDMetadata is the header that has the UUID under which a message was published to
	// a Publisher, where that is not the message's id in the outbox.
	OriginalUUIDMetadata = "pawl-watermill-uuid"
)

// PartitionKey returns the ordering key of a forwarded message, or its UUID if it has none, so
// that those spread over all partitions. It is a kafka.GeneratePartitionKey:
//
//	kafka.NewWithPartitioningMarshaler(watermill.PartitionKey)
func PartitionKey(_ string, m *message.Message) (string, error) {
	if key := m.Metadata.Get(OrderingKeyMetadata); key != "" {
		return key, nil
	}
	return m.UUID, nil
}

// toWatermill returns the message that is published or delivered for m, under its id.
func toWatermill(m *outbox.Message) *message.Message {
	w := message.NewMessage(m.ID.String(), m.Payload)
	maps.Copy(w.Metadata, m.Headers)
	if m.CorrelationID != "" {
		w.Metadata.Set(CorrelationIDMetadata, m.CorrelationID)
	}
	if m.OrderingKey != "" {
		w.Metadata.Set(OrderingKeyMetadata, m.OrderingKey)
	}
	return w
}

// restored is toWatermill under the UUID that the message was published with.
func restored(m *outbox.Message) *message.Message {
	w := toWatermill(m)
	if uuid, ok := w.Metadata[OriginalUUIDMetadata]; ok {
		w.UUID = uuid
		delete(w.Metadata, OriginalUUIDMetadata)
	}
	return w
}

// fromWatermill returns the message that is enqueued for w.
func fromWatermill(topic string, w *message.Message, uuidAsID bool) outbox.Message {
	m := outbox.Message{
		Topic: topic, Payload: w.Payload,
		CorrelationID: w.Metadata.Get(CorrelationIDMetadata), OrderingKey: w.Metadata.Get(OrderingKeyMetadata),
	}
	headers := make(map[string]string, len(w.Metadata)+1)
	maps.Copy(headers, w.Metadata)
	delete(headers, CorrelationIDMetadata)
	delete(headers, OrderingKeyMetadata)
	delete(headers, OriginalUUIDMetadata) // of an earlier passage
	if uuidAsID {
		if id, err := outbox.ParseMessageID(w.UUID); err == nil {
			m.ID = id
		}
	}
	if w.UUID != "" && (m.ID.IsZero() || m.ID.String() != w.UUID) {
		headers[OriginalUUIDMetadata] = w.UUID
	}
	m.Headers = headers
	return m
}
