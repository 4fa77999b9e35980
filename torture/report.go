//go:build linux || darwin

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report says what was found.
type Report struct {
	Rounds []RoundReport `json:"rounds"`
}

// RoundReport is about one round.
type RoundReport struct {
	Number     int            `json:"round"`
	Seed       uint64         `json:"seed"`
	Subject    string         `json:"subject,omitempty"` // the fault that the round is about: it takes work away, or is of a sequence
	Dir        string         `json:"dir"`
	Schema     string         `json:"schema,omitempty"` // which stays if something was found
	Faults     int            `json:"faults"`           // of the plan
	Made       map[string]int `json:"made"`             // of these, by name, that could be made
	Messages   int            `json:"messages"`         // that were handled
	Flows      int            `json:"flows"`            // that the database has in the end
	Rewound    int            `json:"rewound"`          // that committed and were taken away by a rewind
	Undecided  int            `json:"undecided"`        // histories of leases too expensive to compare
	Load       time.Duration  `json:"load"`
	Drain      time.Duration  `json:"drain"`
	Counts     Counts         `json:"counts"`
	Violations []string       `json:"violations"`
}

// Counts are what must hold of rounds, in numbers: Lost, Twice and TokensAgain are zero, also
// where a failover or a restore took work away.
type Counts struct {
	Kept        int `json:"kept"`         // messages whose rows the database has in the end
	Lost        int `json:"lost"`         // of these, that were lost; and messages without their rows
	Twice       int `json:"twice"`        // what was given to two at once, or came again when it was over
	Tokens      int `json:"tokens"`       // fencing tokens that were granted
	TokensAgain int `json:"tokens_again"` // that came again or after newer ones, or were accepted then
}

// Rate is messages handled per minute, from the first fault to the last message.
func (r *RoundReport) Rate() float64 { return float64(r.Messages) / (r.Load + r.Drain).Minutes() }

// Flows is how many flows there were in all rounds.
func (r *Report) Flows() (n int) {
	for _, round := range r.Rounds {
		n += round.Flows
	}
	return n
}

// Err is nil if nothing was found.
func (r *Report) Err() error {
	n := 0
	for _, round := range r.Rounds {
		n += len(round.Violations)
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("torture: %d violations", n)
}

// Kind sums up the rounds about one fault.
type Kind struct {
	Fault      string `json:"fault"`
	Made       int    `json:"made"`
	Messages   int    `json:"messages"`
	Rewound    int    `json:"rewound"`
	Violations int    `json:"violations"`
	Counts
}

// Kinds sums up the rounds that are about a fault, by its name.
func (r *Report) Kinds() (all []Kind) {
	for _, round := range r.Rounds {
		if round.Subject == "" {
			continue
		}
		i, ok := slices.BinarySearchFunc(all, round.Subject, func(k Kind, name string) int { return cmp.Compare(k.Fault, name) })
		if !ok {
			all = slices.Insert(all, i, Kind{Fault: round.Subject})
		}
		k := &all[i]
		k.Made += round.Made[round.Subject]
		k.Messages += round.Messages
		k.Rewound += round.Rewound
		k.Violations += len(round.Violations)
		k.Kept += round.Counts.Kept
		k.Lost += round.Counts.Lost
		k.Twice += round.Counts.Twice
		k.Tokens += round.Counts.Tokens
		k.TokensAgain += round.Counts.TokensAgain
	}
	return all
}

// Summary is a line for each kind of failover or restore that rounds were about.
func (r *Report) Summary() string {
	var b strings.Builder
	for _, k := range r.Kinds() {
		fmt.Fprintf(&b, "%s: made %d times; %d messages handled; it took away %d committed ones itself; of %d that the database kept %d were lost, %d came twice; of %d fencing tokens %d came again; %d violations\n",
			k.Fault, k.Made, k.Messages, k.Rewound, k.Kept, k.Lost, k.Twice, k.Tokens, k.TokensAgain, k.Violations)
	}
	return b.String()
}
