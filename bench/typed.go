package main

import (
	"context"

	"github.com/goccy/go-json"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// Scenario K: what typed topics cost, which encode and decode JSON.

// parcel is a body of about payloadSize bytes as JSON.
type parcel struct {
	Order    int64    `json:"order"`
	Customer string   `json:"customer"`
	Lines    []line   `json:"lines"`
	Notes    []string `json:"notes"`
}

type line struct {
	Article string  `json:"article"`
	Count   int     `json:"count"`
	Price   float64 `json:"price"`
}

// sample is 254 bytes of JSON.
func sample() parcel {
	return parcel{
		Order: 4711, Customer: "Erika Mustermann, Heidestraße 17, 51147 Köln",
		Lines: []line{{"book", 2, 12.5}, {"pencil", 12, 0.75}, {"lamp", 1, 39.9}},
		Notes: []string{"leave it with the neighbour", "no plastic please, thank you"},
	}
}

func typeds(n int) []scenario {
	const title = "scenario A with a typed topic, which encodes and decodes JSON, beside the same bytes"
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"K", e.engine, title, []string{colRate}, []system{
			{"typed", n, typed(e.open, pawl.NewTopic[parcel]("parcel"), sample())},
			{"typed, go-json", n, typed(e.open, pawl.NewTopic[parcel]("parcel", quickJSON()), sample())},
			{"bytes", n, typed(e.open, pawl.NewTopic[[]byte]("parcel"), sampleBytes())},
		}})
	}
	return all
}

// quickJSON has a library encode and decode that is quicker than encoding/json.
func quickJSON() pawl.TopicOptions {
	return pawl.TopicOptions{Codec: pawl.CodecOf(json.Marshal, json.Unmarshal)}
}

func sampleBytes() []byte {
	m, err := pawl.NewTopic[parcel]("parcel").Message(sample())
	if err != nil {
		panic(err) // a constant cannot be encoded
	}
	return m.Payload
}

func typed[T any](open opener, topic *pawl.Topic[T], body T) measurement {
	return withPawl(open, func(ctx context.Context, r *run, db engine.DB, p *pawl.Pawl) error {
		bodies := make([]T, batchSize)
		for i := range bodies {
			bodies[i] = body
		}
		return cycle(ctx, r,
			func(n int) error {
				return parallel(producers, n/batchSize, func(int) error {
					_, err := topic.EnqueueBatch(ctx, p, bodies)
					return err
				})
			},
			func(n int) error { return drainTyped(ctx, db, topic, n) })
	})
}

func drainTyped[T any](ctx context.Context, db engine.DB, topic *pawl.Topic[T], n int) error {
	return drainWith(ctx, db, n, worker.Options{}, func(o pawl.Handlers, note func()) {
		topic.Handle(o, func(context.Context, *pawl.Delivery[T]) error {
			note()
			return nil
		})
	})
}
