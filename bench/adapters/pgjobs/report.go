package main

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"
	"time"
)

const system = "pawl"

// timeFormat is ISO 8601 in UTC, with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// reporter writes the process's lines. Its methods are called by one goroutine at a time.
type reporter struct {
	out   io.Writer
	cfg   *config
	stats *stats
	depth *depth
	err   error // the first that writing met

	last                        time.Time
	enqueued, completed, failed int64 // at last
}

// descriptor is the process's first line.
type descriptor struct {
	Kind          string   `json:"kind"`
	System        string   `json:"system"`
	InstanceID    int      `json:"instance_id"`
	EventTables   []string `json:"event_tables"`
	Extensions    []string `json:"extensions"`
	Version       string   `json:"version"`
	SchemaVersion string   `json:"schema_version"`
	DBName        string   `json:"db_name"`
	StartedAt     string   `json:"started_at"`
}

// measurement is one number of a sample.
type measurement struct {
	T           string  `json:"t"`
	System      string  `json:"system"`
	InstanceID  int     `json:"instance_id"`
	Kind        string  `json:"kind"`
	SubjectKind string  `json:"subject_kind"`
	Subject     string  `json:"subject"`
	Metric      string  `json:"metric"`
	Value       float64 `json:"value"`
	WindowS     float64 `json:"window_s"`
}

// version returns that of pawl in this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/bravellian/pawl" && m.Version != "" {
			return m.Version
		}
	}
	return info.Main.Version
}

// descriptor writes the first line. What is enqueued or completed from now on is in the first sample.
func (r *reporter) descriptor(now time.Time) {
	r.last = now
	r.write(descriptor{
		Kind: "descriptor", System: system, InstanceID: r.cfg.instance, EventTables: eventTables, Extensions: []string{},
		Version: version(), SchemaVersion: version(), DBName: r.cfg.database, StartedAt: now.UTC().Format(timeFormat),
	})
}

// sampleEvery writes a sample at each full interval of the clock until ctx ends.
func (r *reporter) sampleEvery(ctx context.Context) {
	for {
		now := time.Now()
		timer := time.NewTimer(now.Truncate(r.cfg.sampleEvery).Add(r.cfg.sampleEvery).Sub(now))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case now = <-timer.C:
			r.sample(now)
		}
	}
}

// sample writes what happened since the last one. A shorter time than the interval, the first and the
// last, counts as a whole one: the harness adds up the rates of replicas as if their windows were the
// same, and rate times window is a number of jobs still.
func (r *reporter) sample(now time.Time) {
	seconds := max(now.Sub(r.last), r.cfg.sampleEvery).Seconds()
	r.last = now
	write := func(metric string, value, window float64) {
		r.write(measurement{T: now.UTC().Format(timeFormat), System: system, InstanceID: r.cfg.instance, Kind: "adapter", SubjectKind: "adapter", Metric: metric, Value: value, WindowS: window})
	}
	rate := func(metric string, last *int64, count int64) {
		write(metric, float64(count-*last)/seconds, seconds)
		*last = count
	}
	rate("enqueue_rate", &r.enqueued, r.stats.enqueued.Load())
	rate("completion_rate", &r.completed, r.stats.completed.Load())
	rate("retryable_failure_rate", &r.failed, r.stats.failed.Load())
	r.latencies(now, write)
	if r.cfg.observer() {
		c := r.depth.get()
		write("queue_depth", c.ready, 0)
		write("running_depth", c.running, 0)
		write("retryable_depth", c.retrying, 0)
		write("scheduled_depth", c.scheduled, 0)
		write("total_backlog", c.total, 0)
		write("producer_target_rate", float64(r.stats.targetRate.Load()), 0)
	}
}

// latencies writes percentiles. Those of claims are in every sample, 0 if there were none.
func (r *reporter) latencies(now time.Time, write func(metric string, value, window float64)) {
	for _, l := range []struct {
		name   string
		window *window
		always bool
	}{
		{"claim", r.stats.claim, true},
		{"subscriber", r.stats.claim, false},
		{"end_to_end", r.stats.endToEnd, false},
		{"producer", r.stats.produce, false},
		{"producer_call", r.stats.call, false},
	} {
		if p, ok := l.window.percentiles(now); ok || l.always {
			write(l.name+"_p50_ms", p[0], windowSeconds)
			write(l.name+"_p95_ms", p[1], windowSeconds)
			write(l.name+"_p99_ms", p[2], windowSeconds)
		}
	}
}

func (r *reporter) write(record any) {
	line, err := json.Marshal(record)
	if err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if r.err == nil {
		r.err = err
	}
}
