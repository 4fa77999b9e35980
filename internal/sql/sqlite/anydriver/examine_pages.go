package anydriver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	codeCorrupt = 11
	// maxFaults is how many faults of a corrupt file are reported.
	maxFaults = 10
)

// pages reads the file as far as the time allows, and checks its pages. It uses a connection
// of its own, so that nothing waits for it.
func (x *examiner) pages(ctx context.Context) ([]engine.Finding, error) {
	own := &slot{pool: x.sql, guard: x.guard}
	defer own.close()
	var said []string
	err := own.use(ctx, func(s *session) error {
		s.ctx = ctx
		return s.once(fmt.Sprintf("PRAGMA quick_check(%d)", maxFaults), func(r engine.Row) error {
			var line string
			err := r.Scan(&line)
			if line != "ok" {
				said = append(said, strings.Join(strings.Fields(line), " "))
			}
			return err
		})
	})
	switch {
	case len(said) > 0:
		return corrupt(strings.Join(said, "; ")), nil
	case isCorrupt(err):
		return corrupt(strings.Join(strings.Fields(err.Error()), " ")), nil
	case err != nil && (ctx.Err() != nil || errors.Is(classify(err), engine.ErrTimeout)):
		return []engine.Finding{engine.NewFinding(engine.Note, "there was no time to read the whole file", "Give it more time, or check a copy: PRAGMA quick_check")}, nil
	case err != nil:
		return nil, wrap("doctor/quick_check", err)
	}
	return []engine.Finding{engine.NewFinding(engine.OK, "quick_check finds no fault", "")}, nil
}

func corrupt(evidence string) []engine.Finding {
	return []engine.Finding{engine.NewFinding(engine.Problem, "the file is corrupt: "+evidence,
		"Stop all programs, keep a copy of the file, its -wal and -shm, and restore a backup; of what the backup lacks the sqlite3 shell's .recover saves what it can.")}
}

func isCorrupt(err error) bool {
	code, ok := resultCode(err)
	return ok && (code&0xff == codeCorrupt || code&0xff == codeNotADB)
}
