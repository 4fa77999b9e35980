package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// family is what Prometheus calls a metric: a name with all its labels.
type family struct {
	name, help, kind string
	labels           []string
	desc             *prometheus.Desc // of those that are read when they are asked for
}

// catalogue makes the families, and knows them all.
type catalogue struct {
	stores bool // there are many: the label "store" says which
	all    []*family
	vecs   []prometheus.Collector
}

// storeLabel is there only if there are many stores: a label that is always the
// same helps nobody.
const storeLabel = "store"

func (k *catalogue) add(kind, name, help string, labels []string) *family {
	if !k.stores {
		labels = slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == storeLabel })
	}
	f := &family{name: name, help: help, kind: kind, labels: labels}
	k.all = append(k.all, f)
	return f
}

// values are the label values of something in a store.
func (k *catalogue) values(store string, values ...string) []string {
	if !k.stores {
		return values
	}
	return append([]string{store}, values...)
}

func (k *catalogue) counter(name, help string, labels ...string) *prometheus.CounterVec {
	f := k.add("counter", name, help, labels)
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, f.labels)
	k.vecs = append(k.vecs, v)
	return v
}

func (k *catalogue) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	f := k.add("gauge", name, help, labels)
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, f.labels)
	k.vecs = append(k.vecs, v)
	return v
}

func (k *catalogue) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	f := k.add("histogram", name, help, labels)
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, f.labels)
	k.vecs = append(k.vecs, v)
	return v
}

// read is a family whose values are read when they are asked for.
func (k *catalogue) read(kind, name, help string, labels ...string) *family {
	f := k.add(kind, name, help, labels)
	f.desc = prometheus.NewDesc(name, help, f.labels, nil)
	return f
}

// describe sends what there may be.
func (k *catalogue) describe(ch chan<- *prometheus.Desc) {
	for _, v := range k.vecs {
		v.Describe(ch)
	}
	for _, f := range k.all {
		if f.desc != nil {
			ch <- f.desc
		}
	}
}

// counted is what is counted while it happens.
type counted struct {
	enqueued, claimed, attempts, reaped, jobs, fired, made *prometheus.CounterVec
	steps, repaired                                        *prometheus.CounterVec
	leaseAcquired, leaseLost                               *prometheus.CounterVec
	leaseHeld, leaseToken                                  *prometheus.GaugeVec
	took, waited, late                                     *prometheus.HistogramVec
}

func (k *catalogue) counted(o *Options) counted {
	return counted{
		enqueued: k.counter("pawl_messages_enqueued_total", "Messages written, those of transactions included that were rolled back afterwards.", storeLabel, "queue", "topic"),
		claimed:  k.counter("pawl_messages_claimed_total", "Messages that this process's workers claimed.", storeLabel, "queue"),
		attempts: k.counter("pawl_attempts_total", "Attempts to handle a message that ended here, by what became of it.", storeLabel, "queue", "topic", "outcome"),
		reaped:   k.counter("pawl_messages_reaped_total", "Messages brought back because the lease of their worker had run out.", storeLabel, "queue"),
		jobs:     k.counter("pawl_job_attempts_total", "Attempts to handle a run of a job that ended here, by what became of it.", storeLabel, "job_name", "outcome"),
		steps:    k.counter("pawl_flow_steps_total", "Steps of flows that ran here, by what became of them, and waits that timed out.", storeLabel, "topic", "outcome"),
		fired:    k.counter("pawl_timers_fired_total", "Timers that this process made messages of.", storeLabel),
		made:     k.counter("pawl_job_runs_total", "Runs of jobs that this process made because they were due.", storeLabel),
		repaired: k.counter("pawl_joins_repaired_total", "Joins that the clean-up of this process repaired; more than 0 is a bug, or somebody changed a table.", storeLabel, "what"),

		leaseAcquired: k.counter("pawl_leases_acquired_total", "Acquisitions of a lease by this process.", storeLabel, "lease"),
		leaseLost:     k.counter("pawl_leases_lost_total", "Leases that this process lost while it held them.", storeLabel, "lease"),
		leaseHeld:     k.gauge("pawl_lease_held", "Whether this process holds the lease.", storeLabel, "lease"),
		leaseToken:    k.gauge("pawl_lease_token", "The fencing token of this process's last acquisition.", storeLabel, "lease"),

		took:   k.histogram("pawl_handler_duration_seconds", "How long handlers ran.", o.HandlerBuckets, "topic"),
		waited: k.histogram("pawl_queue_wait_seconds", "How long messages could have been handled before their first attempt began.", o.WaitBuckets, "topic"),
		late:   k.histogram("pawl_schedule_lateness_seconds", "From the due time of a timer, delayed message or run of a job until its first attempt began.", o.WaitBuckets, "kind"),
	}
}

// told is what is told when somebody asks.
type told struct {
	up, readAt, messages, oldest, unhandled, recent, truncated, joins, timers, pauses, workers, clockOff *family
	limitConcurrency, limitClaimed, limitWaiting                                                         *family
	loopRunning, loopSuccess, loopOverdue, loopFailures                                                  *family
	held, running, overdue, slots, databaseErrors                                                        *family
	inUse, open, most, waits, waited, changes                                                            *family
	stores, build                                                                                        *family
}

func (k *catalogue) told() told {
	gauge := func(name, help string, labels ...string) *family { return k.read("gauge", name, help, labels...) }
	counter := func(name, help string, labels ...string) *family { return k.read("counter", name, help, labels...) }
	t := told{
		up:               gauge("pawl_store_up", "Whether the database answers and does what it should.", storeLabel),
		readAt:           gauge("pawl_store_read_timestamp_seconds", "When the database was last asked for what lies in it.", storeLabel),
		messages:         gauge("pawl_messages", "Messages by state, from bounded reads; those whose topic was not read have topic "+rest+".", storeLabel, "queue", "topic", "state"),
		oldest:           gauge("pawl_oldest_ready_age_seconds", "For how long the oldest ready message could have been handled.", storeLabel, "queue", "topic"),
		unhandled:        gauge("pawl_oldest_unhandled_age_seconds", "For how long the oldest message waits that no live worker has a handler for.", storeLabel, "queue", "topic"),
		recent:           gauge("pawl_recent_attempts", "Attempts of all workers in the last five minutes, of topics of which some failed within an hour.", storeLabel, "queue", "topic", "outcome"),
		truncated:        gauge("pawl_backlog_truncated", "Whether there may be more than was counted.", storeLabel, "what"),
		joins:            gauge("pawl_joins", "Joins by status, until they are cleaned up.", storeLabel, "status"),
		timers:           gauge("pawl_timers", "Timers that wait to be fired.", storeLabel, "state"),
		pauses:           gauge("pawl_pauses", "Topics and queues that are paused.", storeLabel, "kind"),
		limitConcurrency: gauge("pawl_limit_concurrency", "How many messages of a topic, of each topic of a pattern (kind each), or of a queue may be claimed at once.", storeLabel, "kind", "name"),
		limitClaimed:     gauge("pawl_limit_claimed", "Messages that count against a limit's concurrency; of kind each those of all its topics.", storeLabel, "kind", "name"),
		limitWaiting:     gauge("pawl_limit_waiting", "Due messages of a topic that a claim met without room for them.", storeLabel, "kind", "name"),
		clockOff:         gauge("pawl_workers_clock_off_seconds", "The largest difference of a live worker's clock from the database's; 0: none that can be told.", storeLabel),
		workers:          gauge("pawl_workers", "Processes that work on the database and were heard of lately.", storeLabel),

		loopRunning:  gauge("pawl_loop_running", "Whether the loop runs in this process.", storeLabel, "loop"),
		loopSuccess:  gauge("pawl_loop_last_success_timestamp_seconds", "When the database last did what the loop is for.", storeLabel, "loop"),
		loopOverdue:  gauge("pawl_loop_overdue_seconds", "For how long a running loop should have gone round again: near 0 if it lives.", storeLabel, "loop"),
		loopFailures: gauge("pawl_loop_failures", "How often in a row the database did not do what the loop is for.", storeLabel, "loop"),

		held:           gauge("pawl_messages_held", "Messages that this process has claimed and not settled.", storeLabel),
		overdue:        gauge("pawl_handlers_overdue", "Handlers that have not returned long after their time-out: they ignore their context.", storeLabel),
		running:        gauge("pawl_handlers_running", "Handlers that run in this process.", storeLabel),
		slots:          gauge("pawl_handlers_max", "Handlers that may run at once in this process."),
		databaseErrors: counter("pawl_exchange_errors_total", "Claims and settlements of this process that the database did not do.", storeLabel),

		open: gauge("pawl_connections_open", "Connections to the database, or to all servers of a fleet."),
		most: gauge("pawl_connections_max", "Connections that there may be."),

		build: gauge("pawl_build_info", "1; the versions of pawl and Go are its labels.", "version", "goversion"),
	}
	if k.stores {
		t.stores = gauge("pawl_stores", "Stores of the fleet by state.", "state")
		return t
	}
	t.inUse = gauge("pawl_connections_in_use", "Connections to the database that are in use.")
	t.changes = counter("pawl_database_history_changes_total", "How often this program saw that the database was restored, made anew, or is a replica that took over.")
	t.waits = counter("pawl_connection_waits_total", "How often somebody had to wait for a connection.")
	t.waited = counter("pawl_connection_wait_seconds_total", "For how long somebody had to wait for a connection, in all.")
	return t
}
