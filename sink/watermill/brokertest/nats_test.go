package brokertest_test

import (
	"errors"
	"testing"
	"time"

	wmnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// serveNATS runs a server that has written what it confirms.
func serveNATS(dir string, port int) error {
	s, err := natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, SyncAlways: true, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		return errors.New("the server is not ready")
	}
	return nil
}

// jetStream drops a message whose id it has stored within a window.
type jetStream struct{ *server }

func newJetStream(t *testing.T) broker {
	b := jetStream{newServer(t).self(t, "nats")}
	b.start(t)
	conn := b.connect(t)
	defer conn.Close()
	js, err := conn.JetStream()
	must(t, err)
	// JetStream is ready some time after the port is.
	until(t, "there is a stream", func() bool {
		_, err = js.AddStream(&nats.StreamConfig{Name: topic, Subjects: []string{topic}, Duplicates: 10 * time.Minute})
		return err == nil
	})
	return b
}

func (jetStream) deduplicates() bool { return true }

func (b jetStream) connect(t *testing.T) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect("nats://"+b.address(), b.options()...)
	must(t, err)
	return conn
}

func (jetStream) options() []nats.Option {
	return []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond), nats.RetryOnFailedConnect(true)}
}

func (b jetStream) publisher(t *testing.T) message.Publisher {
	t.Helper()
	p, err := wmnats.NewPublisher(wmnats.PublisherConfig{
		URL: "nats://" + b.address(), NatsOptions: b.options(),
		JetStream: wmnats.JetStreamConfig{TrackMsgId: true, PublishOptions: []nats.PubOpt{nats.AckWait(500 * time.Millisecond)}},
	}, nil)
	must(t, err)
	return p
}

func (b jetStream) read(t *testing.T) (all []*message.Message) {
	t.Helper()
	conn := b.connect(t)
	defer conn.Close()
	js, err := conn.JetStream()
	must(t, err)
	info, err := js.StreamInfo(topic)
	must(t, err)
	sub, err := js.SubscribeSync(topic, nats.OrderedConsumer())
	must(t, err)
	for range info.State.Msgs {
		m, err := sub.NextMsg(patience)
		must(t, err)
		w, err := (&wmnats.NATSMarshaler{}).Unmarshal(m)
		must(t, err)
		all = append(all, w)
	}
	return all
}
