package main

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// What the harness may ask for.
const (
	longHorizon = "long_horizon"
	migrateOnly = "migrate_only"

	fixed       = "fixed"
	depthTarget = "depth-target"

	paceByHarness = "harness" // tokens on standard input say how many jobs to enqueue
)

// config is what the harness sets by environment variables.
type config struct {
	databaseURL, database string
	scenario              string
	mode, pacing          string
	rate                  int    // jobs a second
	rateFile              string // has the rate that holds now; "": rate does
	batchMax              int    // jobs of a call
	batchEvery            time.Duration
	targetDepth           int
	workers               int
	payload               int // bytes
	work                  time.Duration
	sampleEvery           time.Duration
	instance              int
}

// readConfig reads the variables; those that are not set have the contract's defaults.
func readConfig(getenv func(string) string) (*config, error) {
	var wrong []string
	text := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	number := func(name string, otherwise, least int) int {
		n, err := strconv.Atoi(text(name, strconv.Itoa(otherwise)))
		if err != nil || n < least {
			wrong = append(wrong, name)
		}
		return n
	}
	oneOf := func(name string, values ...string) string {
		v := text(name, values[0])
		for _, known := range values {
			if v == known {
				return v
			}
		}
		wrong = append(wrong, name)
		return v
	}
	c := &config{
		databaseURL: getenv("DATABASE_URL"),
		scenario:    oneOf("SCENARIO", longHorizon, migrateOnly),
		mode:        oneOf("PRODUCER_MODE", fixed, depthTarget),
		pacing:      oneOf("PRODUCER_PACING", "adapter", paceByHarness),
		rate:        number("PRODUCER_RATE", 800, 0),
		rateFile:    getenv("PRODUCER_RATE_CONTROL_FILE"),
		batchMax:    number("PRODUCER_BATCH_MAX", 128, 1),
		batchEvery:  time.Duration(number("PRODUCER_BATCH_MS", 10, 1)) * time.Millisecond,
		targetDepth: number("TARGET_DEPTH", 1000, 1),
		workers:     number("WORKER_COUNT", 32, 1),
		payload:     number("JOB_PAYLOAD_BYTES", 256, 0),
		work:        time.Duration(number("JOB_WORK_MS", 1, 0)) * time.Millisecond,
		sampleEvery: time.Duration(number("SAMPLE_EVERY_S", 5, 1)) * time.Second,
		instance:    number("BENCH_INSTANCE_ID", 0, 0),
	}
	if u, err := url.Parse(c.databaseURL); err == nil {
		c.database = strings.TrimPrefix(u.Path, "/")
	}
	if c.database == "" {
		wrong = append(wrong, "DATABASE_URL")
	}
	if wrong != nil {
		return nil, fmt.Errorf("missing or invalid: %s", strings.Join(wrong, ", "))
	}
	return c, nil
}

// observer reports whether this replica reports what is the same for all of them.
func (c *config) observer() bool { return c.instance == 0 }

// rateNow returns the jobs a second that are asked for now: the harness changes them by a file.
func (c *config) rateNow() float64 {
	text, err := os.ReadFile(c.rateFile)
	if err != nil {
		return float64(c.rate)
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return float64(c.rate) // it is being written
	}
	return max(0, rate)
}
