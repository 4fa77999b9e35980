package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// orderPages is how many pages of messages in line are read. Those of lines that are stuck are among
// the oldest, since the others go on.
const orderPages = 10

// orderTally sums up what was found of lines of ordering keys.
type orderTally struct {
	read         int
	note         audit.Note
	seen         map[line]bool // stuck
	stuck, fixed mentions      // keys
	strays       mentions      // positions
	put          int           // strays that were put in line
	held         int
	oldest       *op.DoctorLine // of the messages that hold their keys
}

type line struct {
	lane int64
	key  string
}

// checkOrder finds ordering keys of which no message can be claimed although none is, and repairs
// them with Fix, and those that are held by a message that failed for good (OrderHold).
func (e *examination) checkOrder(ctx context.Context) ([]health.Finding, error) {
	sum := orderTally{note: audit.New(ctx, "lines of ordering keys"), seen: map[line]bool{}}
	var after int64
	for range orderPages {
		list, err := engine.Query(ctx, e.db, op.DoctorLines{After: after, Most: maxRows})
		if err != nil {
			return e.orderFindings(&sum), err
		}
		for i := range list {
			if err := e.checkLine(ctx, &list[i], &sum); err != nil {
				return e.orderFindings(&sum), err
			}
		}
		sum.read += len(list)
		if len(list) < maxRows {
			break
		}
		after = list[len(list)-1].ID
	}
	if err := e.checkStrays(ctx, &sum); err != nil {
		return e.orderFindings(&sum), err
	}
	return engine.OrOK(e.orderFindings(&sum), fmt.Sprintf("no ordering key is stuck, of %s messages that are in line", atMost(sum.read))), nil
}

// atMost is how many rows were read, of more where a limit ended it.
func atMost(n int) string {
	if n == orderPages*maxRows {
		return fmt.Sprintf("the oldest %d", n)
	}
	return fmt.Sprint(n)
}

func (e *examination) checkLine(ctx context.Context, m *op.DoctorLine, sum *orderTally) error {
	switch {
	case m.Head && m.Place == op.LinePlaceFailed:
		sum.held++
		if sum.oldest == nil || worker.Value(m.UpdatedAt).Before(worker.Value(sum.oldest.UpdatedAt)) {
			sum.oldest = m
		}
		return nil
	case m.Head && m.Place == op.LinePlaceFree, !m.Head && !m.Headless, sum.seen[line{m.Lane, m.Key}]:
		return nil
	}
	sum.seen[line{m.Lane, m.Key}] = true
	if e.opts.Fix {
		n, err := e.repairLine(ctx, m.ID, sum)
		if n > 0 {
			sum.fixed.add(fmt.Sprintf("%q", m.Key))
		}
		return err
	}
	sum.stuck.add(fmt.Sprintf("%q", m.Key))
	return nil
}

// checkStrays finds messages that wait behind others and that no other knows of.
func (e *examination) checkStrays(ctx context.Context, sum *orderTally) error {
	list, err := engine.Query(ctx, e.db, op.DoctorStrays{Look: orderPages * maxRows, Most: maxRows})
	for i := 0; err == nil && i < len(list); i++ {
		if e.opts.Fix {
			var n int64
			n, err = e.repairLine(ctx, list[i].ID, sum)
			sum.put += int(n)
			continue
		}
		sum.strays.add(fmt.Sprint(list[i].ID))
	}
	return err
}

func (e *examination) repairLine(ctx context.Context, id int64, sum *orderTally) (int64, error) {
	return engine.Exec(ctx, e.db, nil, op.DoctorLineRepair{ID: id, Note: sum.note.Op()})
}

// orderFindings returns what is wrong, what was repaired and what is held, if anything.
func (e *examination) orderFindings(s *orderTally) (found []health.Finding) {
	if s.fixed.n > 0 {
		found = append(found, one(health.Note, fmt.Sprintf("%d ordering keys can be claimed again: %s", s.fixed.n, &s.fixed), "")...)
	}
	if s.put > 0 {
		found = append(found, one(health.Note, fmt.Sprintf("put %d messages in line that waited for nothing", s.put), "")...)
	}
	const fix = "Run: pawl doctor --fix"
	if s.stuck.n > 0 {
		found = append(found, one(health.Problem, fmt.Sprintf("messages of %d ordering keys wait, and none of these keys can be claimed: %s", s.stuck.n, &s.stuck), fix)...)
	}
	if s.strays.n > 0 {
		found = append(found, one(health.Problem, fmt.Sprintf("%s messages wait behind others of their ordering key, and are not in line: positions %s", engine.AtLeast(int64(s.strays.n), s.strays.n >= maxRows), &s.strays), fix)...)
	}
	for i := range found {
		found[i].Fixable = found[i].Level == health.Problem
	}
	if s.oldest != nil {
		id := fmt.Sprint(s.oldest.ID)
		if s.oldest.MessageID != nil {
			id = outbox.MessageID(*s.oldest.MessageID).String()
		}
		found = append(found, one(health.Warning, fmt.Sprintf("%d ordering keys are held by messages that failed for good, %q the longest, for %s: message %s", s.held, s.oldest.Key, e.ago(s.oldest.UpdatedAt), id),
			fmt.Sprintf("Repair what made it fail, then: pawl retry %s, or give it up: pawl discard %s", id, id))...)
	}
	return found
}
