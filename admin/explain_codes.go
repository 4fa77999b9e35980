package admin

import (
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// The codes of explanations are part of the interface: docs/explain.md lists them.

// Codes of messages. If several apply to a message that waits, they are reported in this
// order: what only a person ends, what time ends, what a worker that starts ends, and
// then the queue. The first would still apply if those after it went away.
const (
	// codeQueuePaused: nothing of its queue is claimed.
	codeQueuePaused = "queue_paused"
	// codeTopicPaused: its topic is paused.
	codeTopicPaused = "topic_paused"
	// codeTopicResuming: a pause ended, and it is not back in its queue yet.
	codeTopicResuming = "topic_resuming"
	// codeBehind: another message with its ordering key goes first.
	codeBehind = "behind"
	// codeScheduled: it was enqueued for later.
	codeScheduled = "scheduled"
	// codeRetry: an attempt failed, and the next one is later.
	codeRetry = "retry"
	// codeAwaitsJoin: it is the wait of a join that is not over.
	codeAwaitsJoin = "awaits_join"
	// codeAwaitsSignal: it is a flow that waits for a signal.
	codeAwaitsSignal = "awaits_signal"
	// codeSleeps: it is a flow that waits for a time.
	codeSleeps = "sleeps"
	// codePutOff: its handler, an operator or a worker without a handler for it
	// put it off. If there is a handler nowhere, codeNoHandler comes first.
	codePutOff = "put_off"
	// codeNoWorker: no live worker serves its queue.
	codeNoWorker = "no_worker"
	// codeNoHandler: no live worker of its queue has a handler for its topic.
	codeNoHandler = "no_handler"
	// codeLimited: as much of its topic or queue is claimed as its limit allows.
	codeLimited = "limited"
	// codeQueued: it is due, and others go first or it is next.
	codeQueued = "queued"
	// codeLeased: a worker holds it.
	codeLeased = "leased"
	// codeOverdue: a worker holds it, and its handler ignores its time-out.
	codeOverdue = "handler_overdue"
	// codeLeaseExpired: the worker that held it let its lease run out.
	codeLeaseExpired = "lease_expired"
	// codeSuspect: it came back from an expired lease, and waits for a worker
	// that handles it while it handles nothing else.
	codeSuspect = "suspect"
	// codeDone: it was handled.
	codeDone = "done"
	// codeFailed: it failed for good.
	codeFailed = "failed"
	// codeDiscarded: it was cancelled, or given up after it failed.
	codeDiscarded = "discarded"
	// codeExpired: it was not handled before it expired.
	codeExpired = "expired"
)

// Codes of timers.
const (
	// codeTimerPending: it is not due, or waits for another attempt to fire it.
	codeTimerPending = "timer_pending"
	// codeTimerDue: it is due, and a scheduler fires it at any moment.
	codeTimerDue = "timer_due"
	// codeNoScheduler: a timer or job is due and there is no live worker, so no
	// scheduler.
	codeNoScheduler = "no_scheduler"
	// codeTimerClaimed: a program fires it itself, and holds it.
	codeTimerClaimed = "timer_claimed"
	// codeTimerClaimExpired: the program that held it let its lease run out.
	codeTimerClaimExpired = "timer_claim_expired"
	// codeTimerFired: its message is in the outbox: that is what runs.
	codeTimerFired = "timer_fired"
	// codeTimerOver: it fired, and there is no message of it: it was cleaned
	// up, or a program fired the timer itself.
	codeTimerOver = "timer_over"
	// codeTimerCancelled: it was taken back, or replaced by another of its key.
	codeTimerCancelled = "timer_cancelled"
)

// Codes of jobs.
const (
	// codeJobDisabled: it makes no runs until it is enabled.
	codeJobDisabled = "job_disabled"
	// codeJobBroken: its schedule cannot be followed.
	codeJobBroken = "job_broken"
	// codeJobNext: it says when the next run is made.
	codeJobNext = "job_next"
	// codeJobDue: a run is due, and a scheduler makes it at any moment.
	codeJobDue = "job_due"
	// codeJobOver: its schedule has no more times.
	codeJobOver = "job_over"
	// codeJobRemoved: only its history is left.
	codeJobRemoved = "job_removed"
	// codeJobOverlap: the next run is skipped unless the last one ends before.
	codeJobOverlap = "job_overlap"
)

// Codes of runs. The message of one that is not over says more.
const (
	codeRunPending   = "run_pending"
	codeRunRunning   = "run_running"
	codeRunSucceeded = "run_succeeded"
	codeRunFailed    = "run_failed"
	codeRunCancelled = "run_cancelled"
	// codeRunSkipped: an earlier run was not over (job.Skip).
	codeRunSkipped = "run_skipped"
	// codeRunMissed: no scheduler was running at its time (job.Misfire).
	codeRunMissed = "run_missed"
	// codeRunUnknown: its message is gone, and with it how it ended.
	codeRunUnknown = "run_unknown"
)

// Codes of joins.
const (
	// codeJoinOverdue: the deadline passed, and no wait was handled since.
	codeJoinOverdue = "join_overdue"
	// codeJoinWaiting: members are not over.
	codeJoinWaiting = "join_waiting"
	// codeJoinUnattached: all members are over, but more steps are expected.
	codeJoinUnattached = "join_unattached"
	// codeJoinWaitPending: it is over, and a wait of it was not handled yet.
	codeJoinWaitPending = "join_wait_pending"
	codeJoinCompleted   = "join_completed"
	codeJoinFailed      = "join_failed"
	codeJoinCancelled   = "join_cancelled"
)

// Codes of messages of the inbox.
const (
	// codeInboxProcessing: an attempt holds it.
	codeInboxProcessing = "inbox_processing"
	// codeInboxStale: it counts as being processed, and nobody holds it.
	codeInboxStale = "inbox_stale"
	// codeInboxQueued: its message is in the outbox: that is what runs.
	codeInboxQueued = "inbox_queued"
	// codeInboxSeen: it is to be processed when its sender delivers it again.
	codeInboxSeen = "inbox_seen"
	codeInboxDone = "inbox_done"
	codeInboxDead = "inbox_dead"
)

// levelOf returns how bad it is that a code applies.
func levelOf(code string) health.Level {
	switch code {
	case codeDone, codeLeased, codeTimerFired, codeTimerOver, codeRunRunning, codeRunSucceeded, codeJoinCompleted, codeInboxProcessing, codeInboxDone:
		return health.OK
	case codeQueuePaused, codeTopicPaused, codeRetry, codeOverdue, codeLeaseExpired, codeSuspect, codeTimerClaimExpired, codeJobDisabled, codeJobOverlap, codeRunSkipped, codeRunMissed,
		codeRunUnknown, codeJoinOverdue, codeJoinWaitPending, codeInboxStale, codeInboxSeen:
		return health.Warning
	case codeNoWorker, codeNoHandler, codeNoScheduler, codeFailed, codeJobBroken, codeRunFailed, codeJoinUnattached, codeJoinFailed, codeInboxDead:
		return health.Problem
	}
	return health.Note // it waits for its time or in its queue, or somebody gave it up
}

// blocker returns a reason as a finding; next is "" if nothing needs to be done.
func blocker(code, summary, next string) health.Finding {
	return engine.CodedFinding(levelOf(code), code, summary, next)
}

// blockedBy returns a finding that goes on with that of a cause.
func blockedBy(code, summary string, cause *Explanation) health.Finding {
	return engine.CodedFinding(max(levelOf(code), cause.Level), code, summary+" "+cause.Summary, cause.NextStep)
}
