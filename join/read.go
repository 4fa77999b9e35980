package join

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/work"
)

// Status is where a join is in its life.
type Status int

// The states of a join. All but Pending are final.
const (
	Pending   Status = 0
	Completed Status = 1
	Failed    Status = 2 // a step failed, or the deadline passed
	Cancelled Status = 3
)

// String returns the status in words.
func (s Status) String() string {
	return name("status", int(s), "pending", "completed", "failed", "cancelled")
}

// MemberStatus is how a member counts.
type MemberStatus int

// The states of a member. In a join that is over, MemberPending ones are those
// that ended too late to count.
const (
	MemberPending   MemberStatus = 0
	MemberCompleted MemberStatus = 1
	MemberFailed    MemberStatus = 2
)

// String returns the status in words.
func (s MemberStatus) String() string {
	return name("member status", int(s), "pending", "completed", "failed")
}

func name(what string, i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s %d", what, i)
	}
	return names[i]
}

// Join is a join with its progress.
type Join struct {
	ID             ID
	GroupingKey    string
	ExpectedSteps  int
	CompletedSteps int
	FailedSteps    int
	Status         Status
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Metadata       string
	Deadline       time.Time // zero: none

	overdue bool // pending past its deadline, by the database's clock
}

// IsComplete reports whether every expected step is counted.
func (j *Join) IsComplete() bool { return j.CompletedSteps+j.FailedSteps == j.ExpectedSteps }

// Member is a message of a join.
type Member struct {
	MessageID outbox.MessageID
	Position  outbox.WorkItemID
	Status    MemberStatus
	CreatedAt time.Time // when it was attached
	Topic     string    // "" once the message was cleaned up
}

// Get returns a join, or ErrNotFound.
func (j *Joins) Get(ctx context.Context, id ID) (*Join, error) {
	found, err := j.read(ctx, "join/get", [16]byte(id))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, notFound(id)
	}
	return found[0], nil
}

// Filter selects joins. The zero value lists the newest 100.
type Filter struct {
	GroupingKey string  // "": any
	Status      *Status // nil: any
	Before      ID      // only joins with lower ids, to page on; zero: all
	Limit       int     // default 100, at most 10 000
}

const (
	defaultList    = 100
	defaultMembers = 1000
	maxList        = 10_000
)

// List returns joins by id, highest first: newest first, unless programs chose
// ids themselves.
func (j *Joins) List(ctx context.Context, f Filter) ([]*Join, error) {
	before := [16]byte(f.Before)
	if f.Before.IsZero() {
		for i := range before {
			before[i] = 0xff
		}
	}
	op, args := "join/list", []any{before, limit(f.Limit, defaultList)}
	switch {
	case f.GroupingKey != "":
		var status any
		if f.Status != nil {
			status = int(*f.Status)
		}
		op, args = "join/list_group", append(args, f.GroupingKey, status)
	case f.Status != nil:
		op, args = "join/list_status", append(args, int(*f.Status))
	}
	return j.read(ctx, op, args...)
}

func limit(n, def int) int {
	if n <= 0 {
		n = def
	}
	return min(n, maxList)
}

func (j *Joins) read(ctx context.Context, op string, args ...any) ([]*Join, error) {
	var all []*Join
	err := j.db.Read(ctx, &engine.Call{Op: op, Args: args, Reset: func() { all = nil }, Each: func(r engine.Row) error {
		var got Join
		var key, metadata *string
		var deadline *time.Time
		var status int64
		err := r.Scan((*[16]byte)(&got.ID), &key, &got.ExpectedSteps, &got.CompletedSteps, &got.FailedSteps, &status, &got.CreatedAt, &got.UpdatedAt,
			&metadata, &deadline, &got.overdue)
		got.GroupingKey, got.Metadata, got.Status = work.Value(key), work.Value(metadata), Status(status)
		got.CreatedAt, got.UpdatedAt, got.Deadline = got.CreatedAt.UTC(), got.UpdatedAt.UTC(), work.Value(deadline).UTC()
		all = append(all, &got)
		return err
	}})
	return all, err
}

// MemberFilter selects members of a join. The zero value lists the first 1000.
type MemberFilter struct {
	Status *MemberStatus    // nil: any
	After  outbox.MessageID // only members with higher message ids, to page on
	Limit  int              // default 1000, at most 10 000
}

// Members returns members of a join by message id, lowest first, or ErrNotFound.
func (j *Joins) Members(ctx context.Context, id ID, f MemberFilter) ([]*Member, error) {
	var status any
	if f.Status != nil {
		status = int(*f.Status)
	}
	var all []*Member
	err := j.db.Read(ctx, &engine.Call{
		Op: "join/members", Args: []any{[16]byte(id), [16]byte(f.After), status, limit(f.Limit, defaultMembers)},
		Reset: func() { all = nil },
		Each: func(r engine.Row) error {
			var m Member
			var topic *string
			var status int64
			err := r.Scan((*[16]byte)(&m.MessageID), (*int64)(&m.Position), &status, &m.CreatedAt, &topic)
			m.Status, m.Topic, m.CreatedAt = MemberStatus(status), work.Value(topic), m.CreatedAt.UTC()
			all = append(all, &m)
			return err
		},
	})
	if err == nil && len(all) == 0 {
		_, err = j.Get(ctx, id)
	}
	return all, err
}
