// Package subject is what operators pause and limit: a topic, in all queues together, or a queue.
package subject

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/topics"
)

// Kind is the kind of a subject.
type Kind string

// The kinds.
const (
	Queue Kind = "queue" // all topics of a queue
	Topic Kind = "topic" // a topic in all queues
	Each  Kind = "each"  // each topic of a pattern by itself, in all queues: it has limits, and is never paused
)

// Check returns an error that names what is invalid of a subject.
func Check(kind Kind, name string) error {
	if kind != Queue && kind != Topic {
		return engine.Invalid("kind", "neither queue nor topic")
	}
	return engine.CheckText(string(kind), name, limits.PauseName, true)
}

// Target returns how the audit trail names a subject.
func Target(kind Kind, name string) string { return string(kind) + " " + name }

// Set is some subjects. A nil one is empty.
type Set struct {
	queues, topics map[string]bool
	prefixes       []string // of topics
}

// Add adds a subject, and returns the set: a new one for a nil one, as append does.
func (s *Set) Add(kind Kind, name string) *Set {
	if s == nil {
		s = &Set{queues: map[string]bool{}, topics: map[string]bool{}}
	}
	switch kind {
	case Queue:
		s.queues[name] = true
	case Each:
		prefix, _ := topics.Pattern(name)
		s.prefixes = append(s.prefixes, prefix)
	default:
		s.topics[name] = true
	}
	return s
}

// HasQueue reports whether a queue is in the set.
func (s *Set) HasQueue(name string) bool { return s != nil && s.queues[name] }

// HasTopic reports whether a topic is in the set.
func (s *Set) HasTopic(name string) bool {
	return s != nil && (s.topics[name] || slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }))
}

// Latest is the set that was read last. Loops of several queues read at the same time: what a read found
// that began before another and ends after it is older, and is dropped. It is safe for concurrent use.
type Latest struct {
	mu          sync.Mutex
	begun, held uint64 // reads; held is the one whose set is kept
	set         atomic.Pointer[Set]
}

// Read reads the set.
func (l *Latest) Read(read func() (*Set, error)) error {
	l.mu.Lock()
	l.begun++
	own := l.begun
	l.mu.Unlock()
	set, err := read()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if own > l.held {
		l.held = own
		l.set.Store(set)
	}
	return nil
}

// Set returns the set, nil before it was read.
func (l *Latest) Set() *Set { return l.set.Load() }
