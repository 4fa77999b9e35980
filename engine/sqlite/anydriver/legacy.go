package anydriver

import (
	"time"

	"github.com/bravellian/pawl/engine"
)

func arg[T any](c *engine.Call, i int) T { return c.Args[i].(T) }

func micros(c *engine.Call, i int) int64 { return arg[time.Duration](c, i).Microseconds() }

type counted int64

func (n counted) Scan(dest ...any) error { return assignInt(dest[0], int64(n)) }

func answer(c *engine.Call, n int64) error { return c.Each(counted(n)) }

func text(texts []*string, i int) any {
	if texts == nil || texts[i] == nil {
		return nil
	}
	return *texts[i]
}

func messageColumns(c *engine.Call, i int, id int64, supplied bool) []any {
	args := make([]any, 0, 11)
	args = append(args, id, arg[[][16]byte](c, 1)[i], supplied, arg[[]int64](c, 6)[i], arg[[]string](c, 2)[i],
		text(arg[[]*string](c, 3), i), text(arg[[]*string](c, 4), i), body(arg[[][]byte](c, 5)[i]))
	if dues := arg[[]*time.Time](c, 7); dues != nil {
		return append(args, dues[i])
	}
	return append(args, nil)
}

func noted(t *txn, c *engine.Call, action string, audit []any, n int64) error {
	if err := note(t, audit, action, n); err != nil {
		return err
	}
	return answer(c, n)
}
