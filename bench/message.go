package main

import (
	"bytes"
	"fmt"

	"github.com/bravellian/pawl/outbox"
)

const (
	payloadSize = 256
	topicCount  = 8
	batchSize   = 100 // messages per enqueue in the batch scenarios
	producers   = 2   // of the batch scenarios
	claimSize   = 500 // messages per claim, pawl's default
)

// payload is text, as most payloads are.
func payload() []byte {
	body := []byte(`{"order":"4711","text":"`)
	body = append(body, bytes.Repeat([]byte("lorem "), payloadSize)...)
	return append(body[:payloadSize-2], `"}`...)
}

func topic(i int) string { return fmt.Sprintf("topic-%d", i%topicCount) }

func topics() []string {
	names := make([]string, topicCount)
	for i := range names {
		names[i] = topic(i)
	}
	return names
}

// messages returns n messages as a program would make them.
func messages(n int) []outbox.Message {
	names, body := topics(), payload()
	all := make([]outbox.Message, n)
	for i := range all {
		all[i] = outbox.Message{Topic: names[i%topicCount], Payload: body}
	}
	return all
}
