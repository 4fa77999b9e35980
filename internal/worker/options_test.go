package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// D-8: Run returns an error for an invalid configuration, which names the field.
func TestConfigIsValidated(t *testing.T) {
	for want, cfg := range map[string]worker.Config[payload]{
		"Concurrency": {Concurrency: -1}, "BatchSize": {BatchSize: worker.MaxBatch + 1}, "Lease": {Lease: time.Second - 1}, "PollMin": {PollMin: -1}, "PollMax": {PollMax: -1},
		"FlushDelay": {FlushDelay: -1}, "Grace": {Grace: -1},
	} {
		var invalid *engine.InvalidError
		if err := worker.New(cfg).Run(t.Context()); !errors.As(err, &invalid) || invalid.Field() != want {
			t.Errorf("want an error that names %s, got %v", want, err)
		}
	}
}
