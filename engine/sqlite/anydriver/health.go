package anydriver

import "github.com/bravellian/pawl/engine"

// healthOperation returns what answers an operation of health in Go.
func healthOperation(name string) opFunc {
	if name == "ping" {
		return ping
	}
	return nil
}

// ping reads the file. That it is still the one that was opened was seen before.
func ping(t *txn, c *engine.Call) error {
	if err := t.query("health/read", func(engine.Row) error { return nil }); err != nil {
		return err
	}
	return answer(c, 1)
}
