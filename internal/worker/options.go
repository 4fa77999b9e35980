package worker

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
)

// DefaultQueue is the queue of messages that name none.
const DefaultQueue = "default"

// Options configure the workers of a component's queues; pawl.Options documents them. The zero value is
// right for most programs.
type Options struct {
	MaxPayload       int
	Logger           *slog.Logger
	RetryLogLevel    slog.Leveler
	Queues           []string
	Concurrency      int
	QueueConcurrency map[string]int
	BatchSize        int
	Lease            time.Duration
	PriorityWait     time.Duration
	PollInterval     time.Duration
	Grace            time.Duration
	Retry            *RetryPolicy
	Retention        time.Duration
	KeptAttempts     int
	MaxBacklog       map[string]int
	WarnOfBacklog    bool
	Fair             map[string]string
	FairWeights      map[string]int
	Worker           string
	StopWhenEmpty    bool
}

const (
	defaultRetention = 7 * 24 * time.Hour
	keptAttempts     = 5
	maxKeptAttempts  = 100
	maxWorker        = 255
	maxWeight        = 100 // a claim looks for each turn of a key
)

// Validate returns a pawl.InvalidError that names the first invalid field. pawl.New calls it.
func (o *Options) Validate() error {
	for i, queue := range o.Queues {
		if err := engine.CheckText("Queues", queue, limits.Queue, true); err != nil {
			return err
		}
		if slices.Contains(o.Queues[:i], queue) {
			return engine.Invalid("Queues", "a queue twice")
		}
	}
	for queue, n := range o.QueueConcurrency {
		if err := cmp.Or(engine.CheckText("QueueConcurrency", queue, limits.Queue, true), engine.CheckOption("QueueConcurrency", n, 1, 0)); err != nil {
			return err
		}
		if !slices.Contains(o.Queues, queue) && (len(o.Queues) > 0 || queue != DefaultQueue) {
			return engine.Invalid("QueueConcurrency", "%q is not one of Queues", queue)
		}
	}
	for queue, n := range o.MaxBacklog {
		if err := cmp.Or(engine.CheckText("MaxBacklog", queue, limits.Queue, true), engine.CheckOption("MaxBacklog", n, 1, 0)); err != nil {
			return err
		}
	}
	for queue, header := range o.Fair {
		if err := cmp.Or(engine.CheckText("Fair", queue, limits.Queue, true), engine.CheckText("Fair", header, limits.Topic, false)); err != nil {
			return err
		}
	}
	for key, weight := range o.FairWeights {
		if err := cmp.Or(engine.CheckText("FairWeights", key, limits.OrderingKey, true), engine.CheckOption("FairWeights", weight, 1, maxWeight)); err != nil {
			return err
		}
	}
	if o.Retry != nil {
		if err := o.Retry.Validate(); err != nil {
			return engine.InOptions("Retry", err)
		}
	}
	return cmp.Or(
		engine.CheckOption("MaxPayload", o.MaxPayload, 1, 0), engine.CheckOption("Concurrency", o.Concurrency, 1, 0),
		engine.CheckOption("BatchSize", o.BatchSize, 1, MaxBatch), engine.CheckOption("Lease", o.Lease, MinLease, 0),
		engine.CheckOption("PriorityWait", o.PriorityWait, 1, 0), engine.CheckOption("PollInterval", o.PollInterval, 1, 0), engine.CheckOption("Grace", o.Grace, 1, 0),
		engine.CheckOption("Retention", o.Retention, 1, 0), engine.CheckOption("KeptAttempts", o.KeptAttempts, 1, maxKeptAttempts),
		engine.CheckText("Worker", o.Worker, maxWorker, false),
	)
}

// Complete returns the options with defaults.
func (o Options) Complete() Options {
	if o.MaxPayload <= 0 {
		o.MaxPayload = limits.Payload
	}
	o.Logger = engine.Logger(o.Logger)
	if len(o.Queues) == 0 {
		o.Queues = []string{DefaultQueue}
	}
	if o.Retention <= 0 {
		o.Retention = defaultRetention
	}
	if o.KeptAttempts <= 0 {
		o.KeptAttempts = keptAttempts
	}
	if o.Worker == "" {
		o.Worker = engine.ProcessName()
	}
	return o
}
