package join

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
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
type Info struct {
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
func (j *Info) IsComplete() bool { return j.CompletedSteps+j.FailedSteps == j.ExpectedSteps }

// Member is a message of a join.
type Member struct {
	MessageID outbox.MessageID
	Position  outbox.Position
	Status    MemberStatus
	CreatedAt time.Time // when it was attached
	Topic     string    // "" once the message was cleaned up
}

// Get returns a join, or ErrNotFound.
func (j *Joins) Get(ctx context.Context, id ID) (*Info, error) {
	found, err := j.read(ctx, op.JoinGet{JoinID: id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, notFound(id)
	}
	return found[0], nil
}

// Filter selects joins. The zero value lists the newest 100.
type ListOptions struct {
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
func (j *Joins) List(ctx context.Context, f ListOptions) ([]*Info, error) {
	before := [16]byte(f.Before)
	if f.Before.IsZero() {
		for i := range before {
			before[i] = 0xff
		}
	}
	most := limit(f.Limit, defaultList)
	switch {
	case f.GroupingKey != "":
		return j.read(ctx, op.JoinListGroup{GroupingKey: f.GroupingKey, Status: (*int)(f.Status), Before: before, Most: most})
	case f.Status != nil:
		return j.read(ctx, op.JoinListStatus{Status: int(*f.Status), Before: before, Most: most})
	}
	return j.read(ctx, op.JoinList{Before: before, Most: most})
}

func limit(n, def int) int {
	if n <= 0 {
		n = def
	}
	return min(n, maxList)
}

func (j *Joins) read(ctx context.Context, o engine.Answering[op.Join]) ([]*Info, error) {
	found, err := engine.Query(ctx, j.db, o)
	var all []*Info
	for i := range found {
		all = append(all, stored(&found[i]))
	}
	return all, err
}

// stored is a join as it is stored.
func stored(j *op.Join) *Info {
	return &Info{
		ID: j.JoinID, GroupingKey: worker.Value(j.GroupingKey), ExpectedSteps: j.ExpectedSteps, CompletedSteps: j.CompletedSteps, FailedSteps: j.FailedSteps,
		Status: Status(j.Status), CreatedAt: j.CreatedUTC.UTC(), UpdatedAt: j.LastUpdatedUTC.UTC(), Metadata: worker.Value(j.Metadata),
		Deadline: worker.Value(j.DeadlineUTC).UTC(), overdue: j.Overdue,
	}
}

// MemberFilter selects members of a join. The zero value lists the first 1000.
type MembersOptions struct {
	Status *MemberStatus    // nil: any
	After  outbox.MessageID // only members with higher message ids, to page on
	Limit  int              // default 1000, at most 10 000
}

// Members returns members of a join by message id, lowest first, or ErrNotFound.
func (j *Joins) Members(ctx context.Context, id ID, f MembersOptions) ([]*Member, error) {
	found, err := engine.Query(ctx, j.db, op.JoinMembers{JoinID: id, Status: (*int)(f.Status), After: f.After, Most: limit(f.Limit, defaultMembers)})
	if err == nil && len(found) == 0 {
		_, err = j.Get(ctx, id)
	}
	var all []*Member
	for i := range found {
		all = append(all, storedMember(&found[i]))
	}
	return all, err
}

// storedMember is a member as it is stored.
func storedMember(m *op.JoinMember) *Member {
	return &Member{
		MessageID: m.OutboxMessageID, Position: outbox.Position(m.ID), Status: MemberStatus(m.Status), CreatedAt: m.CreatedUTC.UTC(), Topic: worker.Value(m.Topic),
	}
}
