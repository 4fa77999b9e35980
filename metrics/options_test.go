package metrics_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/metrics"
)

// D-8: options that cannot be are refused with the field's name, buckets at which a histogram would panic among them.
func TestOptionsAreValidated(t *testing.T) {
	p, err := pawl.New(dbtest.OpenSQLite(t), pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]metrics.Options{
		"MaxTopics": {MaxTopics: -1}, "MaxQueues": {MaxQueues: -1}, "MaxJobs": {MaxJobs: -1}, "MaxLeases": {MaxLeases: -1}, "MaxStores": {MaxStores: -1},
		"MinInterval": {MinInterval: -1}, "Timeout": {Timeout: -1}, "Runs": {Runs: -1}, "Messages": {Messages: -1},
		"HandlerBuckets": {HandlerBuckets: []float64{1, 1}}, "WaitBuckets": {WaitBuckets: []float64{math.NaN()}},
	} {
		_, err := metrics.New(p, o)
		var invalid *engine.InvalidError
		if !errors.As(err, &invalid) || invalid.Field() != want {
			t.Errorf("want an error that names %s, got %v", want, err)
		}
	}
}
