package prelude

import "github.com/ThreeDotsLabs/watermill/message"

// What the page uses of github.com/ThreeDotsLabs/watermill-kafka, in place of its package.
type kafkaPackage struct{}

func (kafkaPackage) NewPublisher(config kafkaConfig, logger any) (message.Publisher, error)

type kafkaConfig struct{}

var (
	kafka  kafkaPackage
	config kafkaConfig
	logger any
	msg    *message.Message
)
