// Package history is what the processes of a torture run write down, and how it is read.
//
// Each process has a file of its own, outside the database, to which it appends an
// [Event] before and after each operation. What the database says about itself is
// then only one witness among several.
package history

import "time"

// Outcome is the outcome of an operation as its process knows it.
type Outcome string

// The outcomes. An operation that has Began and nothing after it was cut off, by a
// SIGKILL for instance; a checker takes it for Unknown.
const (
	Began   Outcome = "began"
	OK      Outcome = "ok"
	Failed  Outcome = "failed"  // it had no effect
	Unknown Outcome = "unknown" // the process cannot know whether it had an effect
)

// The operations. What has an event with Began writes it before it asks the database,
// so that whatever took effect is announced; see [NeedsBegan].
const (
	// Enqueue is a transaction that writes a row of the user's, the ledger, and enqueues
	// Message. Failed is rolled back. Detail of a flow is what it is asked to do. Key and Place are those of an ordering key, Name is a unique
	// key, Nominal is when the message is due and Expires when it expires.
	Enqueue = "enqueue"
	// Duplicate is the answer to an enqueue with the unique key Name, which was asked for at Nominal:
	// Message, an earlier one, takes its place.
	Duplicate = "duplicate"
	// Handle is a handler: Began when it starts, OK or Failed when it returns. Until is the
	// end of its lease, if it is known. Limits are checked by Topic.
	Handle = "handle"
	// Try is an attempt of Message by a handler of pawl's: a join's wait, or the inbox's around
	// that of the program. It is written before the handler begins. Such handlers settle by
	// themselves, so nothing else follows from it.
	Try = "try"
	// Settled is what a worker's observer reports of a message: Detail is [Done],
	// [GivenUp] or [Retry].
	Settled = "settled"
	// Redrive is an operator's: a message that failed is handled again.
	Redrive = "redrive"

	// Claim is a claim of a process that is no worker; OK has one event for each message, with
	// Until, and with Topic if that has a limit.
	Claim = "claim"
	// Ack, Extend and Abandon are about what such a process claimed; OK only where the
	// database changed the message, Failed where the claim was no longer its own.
	Ack     = "ack"
	Extend  = "extend"
	Abandon = "abandon"

	// Join is the start of the join Name; Detail is the number of members.
	Join = "join"
	// Member says that Message is a member of the join Name.
	Member = "member"
	// Wait is the handling of Message, the follow-up of the join Name.
	Wait = "wait"

	// Inbox is one call of Inbox.Once for the source Name and Message. OK says that the
	// effect is committed, by this call or an earlier one.
	Inbox = "inbox"

	// Acquire asks for the lease Name: OK with Token and Until. Failed with Detail [Held]
	// says that the database refused it; any other Failed says nothing about the lease.
	Acquire = "acquire"
	// Renew and Release are about a lease that was acquired. Renew that is Failed with
	// Detail [Lost] was refused by the database.
	Renew   = "renew"
	Release = "release"
	// Guard is a transaction that commits under the guard of Token. Failed with Detail
	// [Lost] was refused by the guard.
	Guard = "guard"

	// Timer schedules a timer, whose id is that of its Message, for the time Nominal.
	Timer = "timer"
	// Cancel cancels a timer: OK if it will not fire, Failed if it was too late or if the
	// call had no effect.
	Cancel = "cancel"
	// Fire is the handling of a timer's message.
	Fire = "fire"

	// Run is the handling of Message, the run of the job Name for the time Nominal.
	Run = "run"

	// Signal sends Message, a flow, a signal in a transaction that also writes a row: Place is its number. With
	// the name [Cancelling] it cancels the flow.
	Signal = "signal"
	// Step is a step Name of the flow Message: Began when it runs, OK when it is known to be stored.
	// Nominal is when the attempt began, before it read what is stored.
	Step = "step"

	// Fault is what the nemesis does: Detail is the kind, Name the process that it is
	// about, if it is about one. Began and OK are its begin and end.
	Fault = "fault"
	// Phase is a part of a run: Detail is [NemesisEnds] or [Drained].
	Phase = "phase"
)

// What Detail says.
const (
	Done    = "done"   // of Settled
	GivenUp = "failed" // of Settled: failed for good
	Retry   = "retry"  // of Settled

	Cancelling = "cancel" // the name of a Signal

	Held = "held" // of Acquire
	Lost = "lost" // of Renew and Guard

	// Stop and StopBriefly are faults: the process Name gets SIGSTOP after Began and SIGCONT
	// before OK.
	Stop        = "stop"
	StopBriefly = "stop-briefly"

	NemesisEnds = "nemesis ends" // of Phase
	Drained     = "drained"      // of Phase: nothing is left to do
)

// Event is one line of a process's file.
type Event struct {
	At      int64   `json:"at"`                // nanoseconds, see Now
	Process string  `json:"process"`           // unique for each start of a process
	Seq     int64   `json:"seq"`               // 1, 2, 3 … within a process
	Op      string  `json:"op"`                // one of the constants
	Outcome Outcome `json:"outcome"`           //
	Message string  `json:"message,omitempty"` // id of a message
	Key     string  `json:"key,omitempty"`     // ordering key
	Place   int64   `json:"place,omitempty"`   // within the key, grows in the order of commits
	Topic   string  `json:"topic,omitempty"`   //
	Attempt int     `json:"attempt,omitempty"` //
	Name    string  `json:"name,omitempty"`    // of a join, lease, timer, job, source, or target of a fault
	Token   int64   `json:"token,omitempty"`   // fencing token
	Nominal int64   `json:"nominal,omitempty"` // of a job's run, or when a message or timer is due
	Expires int64   `json:"expires,omitempty"` // when the message expires
	Until   int64   `json:"until,omitempty"`   // when the claim or lease ends, as the process knows it
	Detail  string  `json:"detail,omitempty"`
}

// Now is the clock of At and Until, which all processes of a machine share.
func Now() int64 { return time.Now().UnixNano() }

// NeedsBegan reports whether an outcome of op means nothing without an earlier Began.
// An interval that begins too late would let innocent operations overlap.
func NeedsBegan(op string) bool {
	switch op {
	case Enqueue, Handle, Ack, Abandon, Inbox, Cancel, Acquire, Renew, Release, Guard, Signal, Step:
		return true
	}
	return false
}

// Known reports whether op is one of the operations.
func Known(op string) bool {
	switch op {
	case Duplicate, Try, Settled, Redrive, Claim, Extend, Join, Member, Wait, Timer, Fire, Run, Fault, Phase:
		return true
	}
	return NeedsBegan(op)
}

// valid reports whether the outcome is one of the constants.
func (o Outcome) valid() bool {
	switch o {
	case Began, OK, Failed, Unknown:
		return true
	}
	return false
}

// JobTopic is the topic of messages that jobs make: nobody enqueues them by an event.
const JobTopic = "job"

// FlowTopic is the topic of flows that producers begin, and of their parts.
const FlowTopic = "flow.order"
