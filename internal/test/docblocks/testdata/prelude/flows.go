// What the pages of flows take as given.
package prelude

import (
	"context"

	"github.com/bravellian/pawl/outbox"
)

type Charge struct{ ID string }

type Receipt struct{ Charge string }

type Table struct{ Rows int }

type Parcel struct{ To string }

type Answer struct {
	Text string
	Tool string
}

func chargeCard(ctx context.Context, o Order, key string) (Charge, error) { return Charge{}, nil }

func refund(ctx context.Context, c Charge, key string) error { return nil }

func extract(ctx context.Context, source string) (Table, error) { return Table{}, nil }

func ready(ctx context.Context, o Order) (bool, error) { return false, nil }

func ask(ctx context.Context, question string) (Answer, error) { return Answer{}, nil }

var (
	order Order
	id    outbox.MessageID
)
