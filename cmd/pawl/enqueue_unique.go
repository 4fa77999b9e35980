package main

import (
	"time"

	"github.com/bravellian/pawl/outbox"
)

// uniqueFlags are the options of a unique key.
type uniqueFlags struct {
	Unique      string        `placeholder:"KEY" help:"Unique key of all the messages: one is not stored while an earlier one with the key waits or runs."`
	UniqueScope string        `placeholder:"SCOPE" enum:",not-done,not-begun" default:"" help:"While the earlier one is not-done (default), or not-begun."`
	UniqueFor   time.Duration `placeholder:"DURATION" help:"If the earlier one was enqueued less than that ago (10m), whatever became of it."`
	Replace     bool          `help:"With --unique: cancel the earlier one, if it waits, and take its place and its due time."`
	Debounce    bool          `help:"With --unique: the earlier one, if it waits, becomes due when this one is. With --replace: this one takes its place, and is due at its own time."`
}

// apply sets the unique key of a message.
func (f *uniqueFlags) apply(m *outbox.Message) error {
	u := outbox.UniqueOptions{Period: f.UniqueFor, Replace: f.Replace, Debounce: f.Debounce}
	if f.UniqueScope == "not-begun" {
		u.Scope = outbox.WhileNotBegun
	}
	if f.Unique == "" {
		if f.UniqueScope != "" || u != (outbox.UniqueOptions{}) {
			return usage("--unique-scope, --unique-for, --replace and --debounce want --unique")
		}
		return nil
	}
	m.UniqueKey, m.Unique = f.Unique, &u
	return nil
}

// askDuplicates returns what the enqueue of the messages sets: which of them are duplicates.
func askDuplicates(msgs []outbox.Message) []bool {
	duplicate := make([]bool, len(msgs))
	for i := range msgs {
		if msgs[i].UniqueKey == "" {
			continue
		}
		u := *msgs[i].Unique
		u.Duplicate = &duplicate[i]
		msgs[i].Unique = &u
	}
	return duplicate
}

func countTrue(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}
