package interleave

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	pauseSequence = "pawl_interleave_pause"
	noticeFormat  = "pawl interleave %d"
)

// pauseRoutine stops a session of the scenario: it says so, and waits for an advisory lock that
// control holds until the session may go on. Numbers are the session's own, so that control can
// take the lock of the next pause before it gives up the one of this pause.
const pauseRoutine = `CREATE OR REPLACE FUNCTION pawl.interleave_pause(p_where text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_key integer;
BEGIN
  IF to_regclass('pg_temp.` + pauseSequence + `') IS NULL THEN
    RETURN false;
  END IF;
  v_key := nextval('pg_temp.` + pauseSequence + `');
  RAISE NOTICE 'pawl interleave % %', v_key, p_where;
  PERFORM pg_advisory_lock_shared(pg_backend_pid(), v_key);
  PERFORM pg_advisory_unlock_shared(pg_backend_pid(), v_key);
  RETURN true;
END $f$`

// Fault is a change of a routine's text that a schedule has to notice.
type Fault struct {
	Routine  string
	From, To string
}

// instrument puts faults and pauses into the routines.
func (p *Postgres) instrument(ctx context.Context, faults []Fault) error {
	if _, err := p.control.Exec(ctx, qualify(pauseRoutine, p.world.table)); err != nil {
		return fmt.Errorf("interleave: %w", err)
	}
	tables, err := p.names(ctx, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname NOT IN ('outbox_lane', 'outbox_limit', 'outbox_pause', 'generation')`)
	if err != nil {
		return err
	}
	touches := regexp.MustCompile(`\b` + regexp.QuoteMeta(p.schema) + `"?\."?(` + strings.Join(tables, "|") + `)\b"?[^(]`)
	rows, err := p.control.Query(ctx, `
		SELECT p.proname, p.prosrc, pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
		 WHERE n.nspname = $1 AND l.lanname = 'plpgsql' AND p.prokind = 'f' AND p.proname <> 'interleave_pause'`, p.schema)
	if err != nil {
		return fmt.Errorf("interleave: %w", err)
	}
	type routine struct{ Name, Body, Text string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[routine])
	if err != nil {
		return fmt.Errorf("interleave: %w", err)
	}
	for _, f := range faults {
		i := slices.IndexFunc(list, func(r routine) bool { return r.Name == f.Routine })
		from := qualify(f.From, p.world.table)
		if i < 0 || !strings.Contains(list[i].Body, from) {
			return fmt.Errorf("interleave: %s has no %q", f.Routine, from)
		}
		body := strings.Replace(list[i].Body, from, qualify(f.To, p.world.table), 1)
		list[i].Text = strings.Replace(list[i].Text, list[i].Body, body, 1)
		list[i].Body = body
	}
	for _, r := range list {
		body := r.Body
		if !unpaused(r.Name) {
			body, _ = insertPauses(r.Body, p.schema, r.Name, touches)
		}
		if _, err := p.control.Exec(ctx, strings.Replace(r.Text, r.Body, body, 1)); err != nil {
			return fmt.Errorf("interleave: %s: %w", r.Name, err)
		}
	}
	return nil
}

// unpaused reports routines in which nothing that scenarios are about can go wrong: they only
// read what is written once, check arguments, or wake somebody.
func unpaused(name string) bool {
	for _, prefix := range []string{"check_", "audit_", "generation_", "outbox_position", "timer_position", "outbox_wake", "timer_wake", "outbox_limit", "outbox_lane_id"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (p *Postgres) names(ctx context.Context, query string) ([]string, error) {
	rows, err := p.control.Query(ctx, query, p.schema)
	if err != nil {
		return nil, fmt.Errorf("interleave: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("interleave: %w", err)
	}
	return names, nil
}
