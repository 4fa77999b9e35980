package anydriver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

const (
	codeCorrupt = 11
	// maxFaults is how many faults of a corrupt file are reported.
	maxFaults = 10
)

// pages reads the whole file as far as the time allows, and looks whether its pages
// fit together. It does so on a connection of its own: nobody waits for it.
func (x *examiner) pages(ctx context.Context) ([]health.Finding, error) {
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
		return []health.Finding{engine.NewFinding(health.Note, "there was no time to read the whole file", "Give it more time, or check a copy: PRAGMA quick_check")}, nil
	case err != nil:
		return nil, wrap("doctor/quick_check", err)
	}
	return []health.Finding{engine.NewFinding(health.OK, "quick_check finds no fault", "")}, nil
}

func corrupt(evidence string) []health.Finding {
	return []health.Finding{engine.NewFinding(health.Problem, "the file is corrupt: "+evidence,
		"Stop all programs, keep a copy of the file, its -wal and -shm, and restore a backup; of what the backup lacks the sqlite3 shell's .recover saves what it can.")}
}

func isCorrupt(err error) bool {
	code, ok := driverr.ResultCode(err)
	return ok && (code&0xff == codeCorrupt || code&0xff == codeNotADB)
}
