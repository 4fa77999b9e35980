package interleave_test

import (
	. "github.com/bravellian/pawl/internal/test/interleave"
)

// Owners, joins and keys are named by letters: X and Y claimed what they hold in the setup.

// scenarios are the states and sessions whose interleavings are explored.
func scenarios() []Scenario {
	var all []Scenario
	for _, list := range [][]Scenario{claims(), settlements(), joins(), orders(), leases(), timers()} {
		all = append(all, list...)
	}
	return all
}

func claims() []Scenario {
	return []Scenario{
		{
			Name: "claims of one run", Setup: []Action{Enqueue(1, 3)},
			Sessions: [][]Tx{
				{One(Claim("A", 2, nil)), One(Ack("A", 1, 3))},
				{One(Claim("B", 2, nil)), One(Ack("B", 1, 3))},
			},
		},
		{
			Name: "claim and three enqueues", Setup: []Action{Enqueue(1, 1)},
			Sessions: [][]Tx{
				{One(Claim("A", 2, nil)), One(Claim("A", 2, nil))},
				{One(Enqueue(2, 2)), {Actions: []Action{Enqueue(4, 1)}, Rollback: true}},
				{One(Enqueue(6, 1), Claim("C", 1, nil))},
			},
		},
		{
			Name: "claim, cancel and ack", Setup: []Action{Enqueue(1, 3)},
			Sessions: [][]Tx{
				{One(Claim("A", 3, nil)), One(Ack("A", 1, 3))},
				{One(CancelMessage(2)), One(CancelMessage(1))},
			},
		},
		{
			Name: "cancellations in one run", Setup: []Action{Enqueue(1, 3)}, Serial: true,
			Sessions: [][]Tx{{One(CancelMessage(1))}, {One(CancelMessage(3))}},
		},
		{
			Name: "settling and claiming in one transaction", Setup: []Action{Enqueue(1, 2), Claim("X", 2, nil), Enqueue(3, 2)},
			Sessions: [][]Tx{
				{One(Ack("X", 1, 1), Claim("A", 1, nil)), One(Ack("A", 1, 4))},
				{One(Abandon("X", 2, 1), Claim("B", 2, nil))},
			},
		},
	}
}

func settlements() []Scenario {
	held := []Action{Enqueue(1, 1), Claim("X", 1, nil)}
	expired := []Action{Enqueue(1, 1), Claim("X", 1, nil), ExpireClaims()}
	return []Scenario{
		{
			Name: "ack, fail and abandon of one message", Setup: held, Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Fail("X", 1, 1))}, {One(Abandon("X", 1, 1))}},
		},
		{
			Name: "settling parts of one run", Setup: []Action{Enqueue(1, 4), Claim("X", 4, nil)}, Serial: true, Kept: []string{"AAAAAAAAAABBABCCCCCC"},
			Sessions: [][]Tx{{One(Ack("X", 2, 1))}, {One(Extend("X", 1, 4))}, {One(Abandon("X", 3, 2))}},
		},
		{
			Name: "ack under a token whose lease expired", Setup: expired,
			Sessions: [][]Tx{
				{One(Ack("X", 1, 1))},
				{One(Reap()), One(Claim("B", 1, nil)), One(Ack("B", 1, 1))},
			},
		},
		{
			Name: "extend, reap and ack", Setup: expired,
			Sessions: [][]Tx{{One(Extend("X", 1, 1)), One(Ack("X", 1, 1))}, {One(Reap())}, {One(Claim("C", 1, nil))}},
		},
		{
			Name: "expiry while it is settled", Setup: []Action{Enqueue(1, 2), Claim("X", 2, nil)},
			Sessions: [][]Tx{{One(Fail("X", 1, 1)), One(Ack("X", 2, 1))}, {One(ExpireClaims()), One(Reap()), One(Claim("B", 2, nil)), One(Abandon("B", 1, 2))}},
		},
		{
			Name: "a borrowed token", Setup: []Action{Enqueue(1, 2), Claim("X", 2, nil)},
			Sessions: [][]Tx{
				{One(Stranger(Ack("Z", 1, 2))), One(Stranger(Fail("Z", 1, 1))), One(Stranger(Extend("Z", 2, 1)))},
				{One(Abandon("X", 1, 1)), One(Claim("B", 1, nil)), One(Ack("B", 1, 2))},
				{One(Stranger(Abandon("Z", 2, 1)))},
			},
		},
		{
			Name: "two reaps and a settlement that is rolled back", Setup: expired,
			Sessions: [][]Tx{{One(Reap())}, {One(Reap())}, {{Actions: []Action{Ack("X", 1, 1)}, Rollback: true}}},
		},
	}
}

func joins() []Scenario {
	// Messages 1 and 2 are under X, in runs of their own, the wait 50 under W.
	begun := []Action{
		StartJoin("J", 2), EnqueueWait("J", FirstWait), Claim("W", 1, nil), Enqueue(1, 1), Claim("X", 1, nil), Enqueue(2, 1), Claim("X", 1, nil),
	}
	with := func(more ...Action) []Action { return append(append([]Action(nil), begun...), more...) }
	return []Scenario{
		{
			Name: "attach and ack", Setup: with(Attach("J", 1)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Attach("J", 2))}, {One(Ack("X", 2, 1))}},
		},
		{
			Name: "attach in a transaction with other work", Setup: []Action{StartJoin("J", 2), Enqueue(1, 2), Claim("X", 2, nil)},
			Sessions: [][]Tx{{One(Enqueue(3, 1), Attach("J", 1), Attach("J", 2))}, {One(Ack("X", 1, 2))}},
		},
		{
			Name: "attach, and acks of parts of a run", Setup: []Action{StartJoin("J", 2), Enqueue(1, 2), Claim("X", 2, nil)}, Serial: true,
			Sessions: [][]Tx{{One(Attach("J", 1, 2))}, {One(Ack("X", 1, 1)), One(Ack("X", 2, 1))}},
		},
		{
			Name: "a report and an ack", Setup: with(Attach("J", 1, 2)), Serial: true,
			Sessions: [][]Tx{{One(Report("J", 1))}, {One(Ack("X", 1, 1)), One(Ack("X", 2, 1))}},
		},
		{
			Name: "attach that is rolled back", Setup: with(Attach("J", 1)), Serial: true,
			Sessions: [][]Tx{{{Actions: []Action{Attach("J", 2)}, Rollback: true}, One(Attach("J", 2))}, {One(Ack("X", 1, 1)), One(Fail("X", 2, 1))}},
		},
		{
			Name: "attach and abandon", Setup: begun,
			Sessions: [][]Tx{{One(Attach("J", 1, 2))}, {One(Abandon("X", 1, 1)), One(Claim("B", 1, nil)), One(Ack("B", 1, 1))}, {One(Extend("X", 2, 1))}},
		},
		{
			Name: "the last steps and the wait", Setup: with(Attach("J", 1, 2)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Fail("X", 2, 1))}, {One(HandleWait("W", "J", FirstWait))}},
		},
		{
			Name: "the last step, the wait and a cancellation", Setup: with(Attach("J", 1, 2), Ack("X", 1, 1)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 2, 1))}, {One(CancelJoin("J"))}, {One(HandleWait("W", "J", FirstWait))}},
		},
		{
			Name: "joins that share members", Setup: with(StartJoin("K", 2), Attach("J", 1, 2), Attach("K", 2, 1)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Ack("X", 2, 1))}},
		},
		{
			Name: "more members than steps", Setup: with(StartJoin("K", 1), Attach("K", 1)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Attach("K", 2))}, {One(Fail("X", 2, 1))}},
		},
		{
			Name: "one step too many", Setup: with(StartJoin("K", 1), Attach("K", 1, 2)), Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Ack("X", 2, 1))}},
		},
		{
			Name: "a wait that two workers handle", Setup: with(Attach("J", 1, 2), Ack("X", 1, 2), ExpireClaims()),
			Sessions: [][]Tx{
				{One(HandleWait("W", "J", FirstWait))},
				{One(Reap()), One(Claim("B", 5, nil)), One(HandleWait("B", "J", FirstWait))},
			},
		},
		{
			Name: "cancelled members", Setup: []Action{StartJoin("J", 2), Enqueue(1, 2), Attach("J", 1)},
			Sessions: [][]Tx{{One(CancelMessage(1))}, {One(Attach("J", 2))}, {One(CancelMessage(2))}},
		},
	}
}

func orders() []Scenario {
	keys := map[int64]string{1: "k", 2: "k", 3: "k"}
	lined := []Action{EnqueueKeyed(1, "k"), EnqueueKeyed(2, "k"), EnqueueKeyed(3, "k")}
	begun := append(append([]Action(nil), lined...), Claim("X", 1, nil))
	return []Scenario{
		{
			Name: "claims of one key", Keys: keys, Setup: lined,
			Sessions: [][]Tx{{One(Claim("A", 3, nil)), One(Ack("A", 1, 3))}, {One(Claim("B", 3, nil)), One(Ack("B", 1, 3))}},
		},
		{
			Name: "ack of a head, and a claim", Keys: keys, Setup: begun,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Claim("B", 2, nil)), One(Ack("B", 2, 1))}},
		},
		{
			Name: "ack of a head, and an enqueue", Keys: keys, Setup: begun[:0:0],
			Sessions: [][]Tx{
				{One(EnqueueKeyed(1, "k")), One(EnqueueKeyed(2, "k"))},
				{One(Claim("B", 2, nil)), One(Ack("B", 1, 1))},
				{One(Claim("C", 2, nil))},
			},
		},
		{
			Name: "cancelling the next in line", Keys: keys, Setup: begun, Serial: true,
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(CancelMessage(2))}},
		},
		{
			Name: "cancelling what waits in line", Keys: keys, Setup: begun,
			Sessions: [][]Tx{{One(Fail("X", 1, 1))}, {One(CancelMessage(2))}, {One(Claim("C", 2, nil))}},
		},
		{
			Name: "the head's lease expires", Keys: keys, Setup: append(append([]Action(nil), begun...), ExpireClaims()),
			Sessions: [][]Tx{{One(Ack("X", 1, 1))}, {One(Reap()), One(Claim("B", 2, nil))}},
		},
	}
}

func leases() []Scenario {
	return []Scenario{
		{
			Name: "the first acquisition", Serial: true,
			Sessions: [][]Tx{{One(Acquire("A")), One(Release("A"))}, {One(Acquire("B"))}, {One(Acquire("C"))}},
		},
		{
			Name: "a guarded transaction", Setup: []Action{Acquire("X")}, Kept: []string{"AAABBBBBBBBBACCCCC"},
			Sessions: [][]Tx{{One(Guard("X"), Enqueue(1, 1), Guard("X"))}, {One(ExpireLease()), One(Acquire("B")), One(Release("B"))}, {One(Acquire("C"))}},
		},
		{
			Name: "renewal of what expires", Setup: []Action{Acquire("X")},
			Sessions: [][]Tx{{One(Renew("X")), One(Guard("X"))}, {One(ExpireLease()), One(Acquire("B"))}, {One(Acquire("C"))}},
		},
		{
			Name: "acquisitions of what expired", Setup: []Action{Acquire("X"), ExpireLease()}, Serial: true, Kept: []string{"AAAABBBBAAABBBCC"},
			Sessions: [][]Tx{{One(Acquire("A")), One(Guard("A"))}, {One(Acquire("B")), One(Guard("B"))}, {One(Release("X"))}},
		},
	}
}

func timers() []Scenario {
	return []Scenario{
		{
			Name: "dispatch and cancel", Setup: []Action{Schedule("", FirstTimer, FirstTimer+1)}, Kept: []string{"ABCABBBCCCC"},
			Sessions: [][]Tx{{One(Dispatch())}, {One(CancelTimer(FirstTimer)), One(CancelTimer(FirstTimer + 1))}, {One(Dispatch())}},
		},
		{
			Name: "cancel in a transaction that is rolled back", Setup: []Action{Schedule("", FirstTimer)},
			Sessions: [][]Tx{{{Actions: []Action{CancelTimer(FirstTimer), Enqueue(1, 1)}, Rollback: true}}, {One(Dispatch()), One(Dispatch())}, {One(CancelTimer(FirstTimer))}},
		},
		{
			Name: "a timer's key", Setup: []Action{Schedule("k", FirstTimer)}, Replaces: true,
			Sessions: [][]Tx{{One(Schedule("k", FirstTimer+1))}, {One(CancelKey("k"))}, {One(Dispatch())}},
		},
		{
			Name: "timers that programs fire", Setup: []Action{Schedule("", FirstTimer)},
			Sessions: [][]Tx{{One(ClaimTimers("A")), One(AckTimer("A", FirstTimer))}, {One(Dispatch())}, {One(CancelTimer(FirstTimer))}},
		},
		{
			Name: "a timer whose lease expired", Setup: []Action{Schedule("", FirstTimer), ClaimTimers("X"), ExpireClaims()},
			Sessions: [][]Tx{{One(AckTimer("X", FirstTimer))}, {One(ReapTimers()), One(ClaimTimers("B"))}, {One(CancelTimer(FirstTimer))}},
		},
	}
}
