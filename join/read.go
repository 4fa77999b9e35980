package join

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/joincheck"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Status is where a join or a member is in its life.
type Status string

// The states of a join. All but Pending are final. A member is Pending, Completed or
// Failed; in a join that is over, Pending ones are those that ended too late to count.
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Failed    Status = "failed" // a step failed, or the deadline passed
	Cancelled Status = "cancelled"
)

// number is how tables store one of the states above.
func (s Status) number() int { return slices.Index(op.JoinStatuses(), string(s)) }

// numberOrAny is number of a state to list, nil for "".
func (s Status) numberOrAny() (*int, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // any state is no mistake
	}
	n, err := op.JoinStatuses().Number("status", string(s))
	return &n, err
}

// Info is a join with its progress.
type Info struct {
	ID             ID        `json:"join_id"`
	Status         Status    `json:"status"`
	GroupingKey    string    `json:"grouping_key,omitempty"`
	ExpectedSteps  int       `json:"expected_steps"`
	CompletedSteps int       `json:"completed_steps"`
	FailedSteps    int       `json:"failed_steps"`
	CreatedAt      time.Time `json:"created_at,omitzero"`
	UpdatedAt      time.Time `json:"updated_at,omitzero"`
	Deadline       time.Time `json:"deadline,omitzero"`
	Metadata       string    `json:"metadata,omitempty"`

	overdue bool // pending past its deadline, by the database's clock
}

// complete reports whether every expected step is counted.
func (j *Info) complete() bool { return j.CompletedSteps+j.FailedSteps == j.ExpectedSteps }

// Member is a message of a join.
type Member struct {
	MessageID outbox.MessageID `json:"message_id"`
	Position  outbox.Position  `json:"id"`
	Status    Status           `json:"state"`
	CreatedAt time.Time        `json:"attached_at,omitzero"` // when it was attached
	Topic     string           `json:"topic,omitempty"`      // "" once the message was cleaned up
	// Result is what the message's handler set by outbox.Message.SetResult, nil if nothing.
	Result []byte `json:"result_base64,omitempty"`
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
	return &found[0], nil
}

// ListOptions select joins. The zero value lists all.
type ListOptions struct {
	Status      Status // "": any
	GroupingKey string // "": any

	After *Info // only joins that follow this one: its ID counts; nil: from the beginning
}

// List returns joins by id, highest first: newest first, unless programs chose ids themselves. They
// are read while they are iterated over; an error is the last item.
func (j *Joins) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Pages(opts.After, func(after *Info, most int) ([]Info, error) {
		status, err := opts.Status.numberOrAny()
		if err != nil {
			return nil, err
		}
		before := joincheck.Above()
		if after != nil {
			before = after.ID
		}
		switch {
		case opts.GroupingKey != "":
			return j.read(ctx, op.JoinListGroup{GroupingKey: opts.GroupingKey, Status: status, Before: before, Most: most})
		case status != nil:
			return j.read(ctx, op.JoinListStatus{Status: *status, Before: before, Most: most})
		}
		return j.read(ctx, op.JoinList{Before: before, Most: most})
	})
}

func (j *Joins) read(ctx context.Context, o engine.Answering[op.Join]) ([]Info, error) {
	return engine.QueryAs(ctx, j.db, o, func(row *op.Join, unread error) (Info, error) { return stored(row), unread })
}

// stored is a join as it is stored.
func stored(j *op.Join) Info {
	return Info{
		ID: j.JoinID, GroupingKey: worker.Value(j.GroupingKey), ExpectedSteps: j.ExpectedSteps, CompletedSteps: j.CompletedSteps, FailedSteps: j.FailedSteps,
		Status: Status(op.JoinStatuses().Word(int64(j.Status))), CreatedAt: j.CreatedUTC.UTC(), UpdatedAt: j.LastUpdatedUTC.UTC(), Metadata: worker.Value(j.Metadata),
		Deadline: worker.Value(j.DeadlineUTC).UTC(), overdue: j.Overdue,
	}
}

// MembersOptions select members of a join. The zero value lists all.
type MembersOptions struct {
	Status Status // Pending, Completed or Failed; "": any

	After *Member // only members that follow this one: its MessageID counts; nil: from the beginning
}

// Members returns members of a join with their results, by message id, lowest first, which it reads
// while they are iterated over. Results may have 64 KiB each, of which up to 500 are in memory at
// once. An error is the last item: ErrNotFound if there is no such join.
func (j *Joins) Members(ctx context.Context, id ID, opts MembersOptions) iter.Seq2[Member, error] {
	return engine.Pages(opts.After, func(after *Member, most int) (all []Member, err error) {
		status, err := opts.Status.numberOrAny()
		if err != nil {
			return nil, err
		}
		list := op.JoinMembers{JoinID: id, Status: status, Most: most}
		if after != nil {
			list.After = after.MessageID
		}
		all, err = engine.QueryAs(ctx, j.db, list, func(row *op.JoinMember, unread error) (Member, error) { return storedMember(row), unread })
		if err == nil && len(all) == 0 {
			_, err = j.Get(ctx, id)
		}
		return all, err
	})
}

// storedMember is a member as it is stored.
func storedMember(m *op.JoinMember) Member {
	result := m.Result
	if len(result) == 0 {
		result = nil
	}
	return Member{
		MessageID: m.OutboxMessageID, Position: outbox.Position(m.ID), Status: Status(op.JoinStatuses().Word(int64(m.Status))), CreatedAt: m.CreatedUTC.UTC(),
		Topic: worker.Value(m.Topic), Result: result,
	}
}
