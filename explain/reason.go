package explain

// Reason says in a word why something has not run, or that it has. The words are
// part of the interface.
type Reason string

// Reasons of messages. Of those that hold one that waits, several at once are told
// in this order: what only a person ends, what time ends, what a worker that starts
// ends, and then its turn. What is told first would still hold it if those behind
// went away.
const (
	// QueuePaused says that nothing of its queue is claimed.
	QueuePaused Reason = "queue_paused"
	// TopicPaused says that its topic is paused.
	TopicPaused Reason = "topic_paused"
	// TopicResuming says that a pause ended, and that it is not back in its queue yet.
	TopicResuming Reason = "topic_resuming"
	// Scheduled says that it was enqueued for later.
	Scheduled Reason = "scheduled"
	// Retry says that an attempt failed, and that the next one is later.
	Retry Reason = "retry"
	// AwaitsJoin says that it is the wait of a join that is not over.
	AwaitsJoin Reason = "awaits_join"
	// PutOff says that its handler, an operator or a worker without a handler for it
	// put it off. If there is a handler nowhere, NoHandler is told first.
	PutOff Reason = "put_off"
	// NoWorker says that no live worker serves its queue.
	NoWorker Reason = "no_worker"
	// NoHandler says that no live worker of its queue has a handler for its topic.
	NoHandler Reason = "no_handler"
	// Turn says that it is due and others go first, or that it is next.
	Turn Reason = "turn"
	// Leased says that a worker holds it.
	Leased Reason = "leased"
	// LeaseExpired says that the worker that held it let its lease run out.
	LeaseExpired Reason = "lease_expired"
	// Suspect says that it came back from an expired lease, and waits for a worker
	// that handles it while it handles nothing else.
	Suspect Reason = "suspect"
	// Done says that it was handled.
	Done Reason = "done"
	// Failed says that it failed for good.
	Failed Reason = "failed"
	// Discarded says that it was cancelled, or given up after it failed.
	Discarded Reason = "discarded"
)

// Reasons of timers.
const (
	// TimerPending says that it is not due, or waits for another attempt to fire it.
	TimerPending Reason = "timer_pending"
	// TimerDue says that it is due, and a scheduler fires it at any moment.
	TimerDue Reason = "timer_due"
	// NoScheduler says that a timer or job is due and no live worker is there, and
	// so no scheduler.
	NoScheduler Reason = "no_scheduler"
	// TimerClaimed says that a program fires it itself, and holds it.
	TimerClaimed Reason = "timer_claimed"
	// TimerClaimExpired says that the program that held it let its lease run out.
	TimerClaimExpired Reason = "timer_claim_expired"
	// TimerFired says that its message is in the outbox: that is what runs.
	TimerFired Reason = "timer_fired"
	// TimerOver says that it fired and that there is no message of it: it was cleaned
	// up, or a program fired the timer itself.
	TimerOver Reason = "timer_over"
	// TimerCancelled says that it was taken back, or replaced by another of its key.
	TimerCancelled Reason = "timer_cancelled"
)

// Reasons of jobs.
const (
	// JobDisabled says that it makes no runs until it is enabled.
	JobDisabled Reason = "job_disabled"
	// JobBroken says that its schedule cannot be followed.
	JobBroken Reason = "job_broken"
	// JobNext says when the next run is made.
	JobNext Reason = "job_next"
	// JobDue says that a run is due, and a scheduler makes it at any moment.
	JobDue Reason = "job_due"
	// JobOver says that its schedule has no more times.
	JobOver Reason = "job_over"
	// JobRemoved says that only its history is left.
	JobRemoved Reason = "job_removed"
	// JobOverlap says that the next run is skipped unless the last one ends before.
	JobOverlap Reason = "job_overlap"
)

// Reasons of runs. The message of one that is not over says more.
const (
	RunPending   Reason = "run_pending"
	RunRunning   Reason = "run_running"
	RunSucceeded Reason = "run_succeeded"
	RunFailed    Reason = "run_failed"
	RunCancelled Reason = "run_cancelled"
	// RunSkipped says that an earlier run was not over (job.Skip).
	RunSkipped Reason = "run_skipped"
	// RunMissed says that no scheduler was running at its time (job.Misfire).
	RunMissed Reason = "run_missed"
	// RunUnknown says that its message is gone, and with it how it ended.
	RunUnknown Reason = "run_unknown"
)

// Reasons of joins.
const (
	// JoinOverdue says that the deadline passed, and that no wait was handled since.
	JoinOverdue Reason = "join_overdue"
	// JoinWaiting says that members are not over.
	JoinWaiting Reason = "join_waiting"
	// JoinUnattached says that all members are over, but more steps are expected.
	JoinUnattached Reason = "join_unattached"
	// JoinUntold says that it is over, and that a wait of it was not handled yet.
	JoinUntold    Reason = "join_untold"
	JoinCompleted Reason = "join_completed"
	JoinFailed    Reason = "join_failed"
	JoinCancelled Reason = "join_cancelled"
)

// Reasons of messages of the inbox.
const (
	// InboxProcessing says that an attempt holds it.
	InboxProcessing Reason = "inbox_processing"
	// InboxStale says that it counts as being processed, and that nobody holds it.
	InboxStale Reason = "inbox_stale"
	// InboxQueued says that its message is in the outbox: that is what runs.
	InboxQueued Reason = "inbox_queued"
	// InboxSeen says that it is to be processed when its sender delivers it again.
	InboxSeen Reason = "inbox_seen"
	InboxDone Reason = "inbox_done"
	InboxDead Reason = "inbox_dead"
)
