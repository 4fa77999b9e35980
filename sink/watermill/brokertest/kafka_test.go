package brokertest_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/bravellian/pawl/sink/watermill"
)

// serveKafka runs a program that speaks Kafka's protocol, and has written what it confirms.
func serveKafka(dir string, port int) error {
	_, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(dir), kfake.SyncWrites(), kfake.SeedTopics(3, topic))
	return err
}

// kafkaLog keeps every message that it gets.
type kafkaLog struct{ *server }

func newKafka(t *testing.T) broker {
	b := kafkaLog{newServer(t).self(t, "kafka")}
	b.start(t)
	return b
}

func (kafkaLog) deduplicates() bool { return false }

// marshaler chooses the partition by the ordering key.
func (kafkaLog) marshaler() kafka.MarshalerUnmarshaler {
	return kafka.NewWithPartitioningMarshaler(watermill.PartitionKey)
}

func (b kafkaLog) publisher(t *testing.T) message.Publisher {
	t.Helper()
	config := kafka.DefaultSaramaSyncPublisherConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Retry.Max, config.Producer.Retry.Backoff = 2, 20*time.Millisecond
	config.Metadata.Retry.Max, config.Metadata.Retry.Backoff = 2, 20*time.Millisecond
	var p message.Publisher
	until(t, "a producer is connected", func() (ok bool) {
		var err error
		p, err = kafka.NewPublisher(kafka.PublisherConfig{Brokers: []string{b.address()}, Marshaler: b.marshaler(), OverwriteSaramaConfig: config}, nil)
		return err == nil
	})
	return p
}

func (b kafkaLog) read(t *testing.T) (all []*message.Message) {
	t.Helper()
	client, err := sarama.NewClient([]string{b.address()}, kafka.DefaultSaramaSyncPublisherConfig())
	must(t, err)
	defer func() { _ = client.Close() }()
	consumer, err := sarama.NewConsumerFromClient(client)
	must(t, err)
	defer func() { _ = consumer.Close() }()
	partitions, err := client.Partitions(topic)
	must(t, err)
	for _, partition := range partitions {
		end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
		must(t, err)
		if end == 0 {
			t.Errorf("partition %d is empty", partition)
			continue
		}
		pc, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		must(t, err)
		for offset := int64(-1); offset < end-1; {
			var m *sarama.ConsumerMessage
			select {
			case m = <-pc.Messages():
			case <-time.After(patience):
				t.Fatalf("partition %d ends at %d, not at %d", partition, offset, end)
			}
			offset = m.Offset
			w, err := b.marshaler().Unmarshal(m)
			must(t, err)
			all = append(all, w)
		}
		must(t, pc.Close())
	}
	return all
}
