package watermill_test

import (
	"os"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/sink/watermill"
)

// D-231: Watermill's own tests of publishers and subscribers. What is false here pawl does not
// promise: a message goes to one subscription of its topic, and to another one if its process
// ends; and with several subscriptions the order is that of ordering keys only.
func TestConformance(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, _ := open(t, e, quick())
		tests.TestPubSub(t, tests.Features{
			ConsumerGroups:                      false,
			ExactlyOnceDelivery:                 false,
			GuaranteedOrder:                     true,
			GuaranteedOrderWithSingleSubscriber: true,
			Persistent:                          true,
			NewSubscriberReceivesOldMessages:    false,
			ForceShort:                          os.Getenv("PAWL_LONG") == "",
		}, func(t *testing.T) (message.Publisher, message.Subscriber) {
			return watermill.NewPublisher(p, watermill.PublisherOptions{}), subscriber(t, p, watermill.SubscriberOptions{Worker: quick()})
		}, nil)
	})
}
