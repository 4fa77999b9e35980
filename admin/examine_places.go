package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// placesPage is how many messages Fix looks for with one statement.
	placesPage = 5000
	// placesAtOnce is how many are made ready in one transaction.
	placesAtOnce = 100
)

// placesTally sums up what was made ready again.
type placesTally struct {
	placed mentions // positions
	note   audit.Note
}

// checkPlaces reads a sample of messages and runs: every message is in exactly one place, and every run is of
// messages (docs/layout.md). With Fix it reads all messages first, and makes those ready that are in no place.
func (e *examination) checkPlaces(ctx context.Context) ([]health.Finding, error) {
	sum := placesTally{note: audit.New(ctx, "messages in no place")}
	var err error
	if e.opts.Fix {
		err = e.placeAll(ctx, &sum)
	}
	var found []health.Finding
	if sum.placed.n > 0 {
		found = one(health.Note, fmt.Sprintf("%d messages that were in no place are ready again: ids %s", sum.placed.n, &sum.placed),
			"Nothing, but one that was handled before it was lost is handled again. Please report what the change log does not tell of.")
	}
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	sampled, err := e.samplePlaces(ctx)
	if found = append(found, sampled...); found != nil || err != nil {
		return found, err
	}
	where := fmt.Sprintf("the %d newest and oldest messages and runs are where they belong", sample)
	if e.opts.Fix {
		where = "every message is in a place, and " + where
	}
	return one(health.OK, where, ""), nil
}

// samplePlaces finds messages that are in no place or in several, and runs that are not of messages.
func (e *examination) samplePlaces(ctx context.Context) ([]health.Finding, error) {
	messages, err := engine.Query(ctx, e.db, op.DoctorMessages{Sample: sample, Most: mentioned})
	if err != nil {
		return nil, err
	}
	runs, err := engine.Query(ctx, e.db, op.DoctorRuns{Sample: sample, Look: maxRows, Most: mentioned})
	if err != nil {
		return nil, err
	}
	var lost, doubled, empty []string
	for _, m := range messages {
		if m.Places == 0 {
			lost = append(lost, fmt.Sprint(m.ID))
		} else {
			doubled = append(doubled, fmt.Sprint(m.ID))
		}
	}
	for _, r := range runs {
		empty = append(empty, fmt.Sprintf("%d of run %d", r.Missing, r.Lo))
	}
	const report = "The tables were changed by hand, or this is a fault of pawl: please report it, and compare with a backup."
	const fix = "Run: pawl doctor --fix, which reads all messages and makes those ready again that are in no place. Please report it."
	var found []health.Finding
	for _, f := range []struct {
		what string
		ids  []string
		next string
	}{
		{"messages in no place, which will never be delivered: ids ", lost, fix},
		{"messages in several places, which may be delivered again: ids ", doubled, report},
		{"runs without their messages: ", empty, report},
	} {
		if len(f.ids) > 0 {
			found = append(found, one(health.Problem, f.what+strings.Join(f.ids, ", ")+" (in a sample)", f.next)...)
			found[len(found)-1].Fixable = f.next == fix
		}
	}
	return found, nil
}

// placeAll makes all messages ready that are in no place, page by page.
func (e *examination) placeAll(ctx context.Context, sum *placesTally) error {
	for after, more := int64(0), true; more; {
		var err error
		if after, more, err = e.placePage(ctx, after, sum); err != nil {
			return err
		}
	}
	return nil
}

// placePage does so with one page, and returns behind which position the next one is, if any is.
func (e *examination) placePage(ctx context.Context, after int64, sum *placesTally) (last int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	seen, err := engine.Query(ctx, e.db, op.DoctorNowhere{After: after, Look: placesPage})
	if err != nil || len(seen) == 0 {
		return 0, false, err
	}
	var calls []*engine.Call
	for _, m := range seen {
		if m.Nowhere {
			calls = append(calls, engine.Ask(op.DoctorPlace{ID: m.ID, Note: sum.note.Op()}))
		}
	}
	for some := range slices.Chunk(calls, placesAtOnce) {
		if err := e.db.Do(ctx, some...); err != nil {
			return 0, false, err
		}
		for _, c := range some {
			if c.N > 0 {
				sum.placed.add(fmt.Sprint(c.Operation.(op.DoctorPlace).ID))
			}
		}
	}
	return seen[len(seen)-1].ID, true, nil
}
