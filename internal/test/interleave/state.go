package interleave

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// tables are those that scenarios write; lanes stay.
var tables = []string{ //nolint:gochecknoglobals // a constant
	"outbox_message", "outbox_ready", "outbox_claim", "outbox_done", "outbox_exception", "outbox_attempt", "outbox_order",
	"outbox_join", "outbox_join_member", "outbox_join_wait", "lease", "lease_waiter", "timer",
}

// row is a row of any table.
type row struct {
	Table      string
	ID         int64
	A, B, C    int64
	Name, More string
}

// stateQuery reads everything that scenarios write, as one query: one state of the database.
// {t} is text of a token, {now} the database's clock.
const stateQuery = `
SELECT 'message', id, 0, 0, 0, {t message_id}, '' FROM pawl.outbox_message
UNION ALL SELECT 'ready', lo, n, retry, CASE WHEN at <= {now} THEN 1 ELSE 0 END, '', '' FROM pawl.outbox_ready
UNION ALL SELECT 'claim', lo, n, retry, CASE WHEN locked_until <= {now} THEN 1 ELSE 0 END, {t owner}, '' FROM pawl.outbox_claim
UNION ALL SELECT 'done', lo, n, 0, 0, {t owner}, '' FROM pawl.outbox_done
UNION ALL SELECT 'exception', id, status, retry_count, 0, '', '' FROM pawl.outbox_exception
UNION ALL SELECT 'attempt', id, count(*), 0, 0, '', '' FROM pawl.outbox_attempt GROUP BY id
UNION ALL SELECT 'order', id, CASE WHEN head THEN 1 ELSE 0 END, 0, 0, key, '' FROM pawl.outbox_order
UNION ALL SELECT 'join', expected_steps, completed_steps, failed_steps, status, {t join_id}, '' FROM pawl.outbox_join
UNION ALL SELECT 'member', id, status, 0, 0, {t join_id}, '' FROM pawl.outbox_join_member
UNION ALL SELECT 'wait', id, 0, 0, 0, {t join_id}, '' FROM pawl.outbox_join_wait
UNION ALL SELECT 'lease', token, CASE WHEN lease_until_utc > {now} THEN 1 ELSE 0 END, 0, 0, name, coalesce({t holder}, '') FROM pawl.lease
UNION ALL SELECT 'timer', id, status, retry_count, 0, {t timer_id}, coalesce({t owner}, '') FROM pawl.timer`

// place is where a message is.
type place struct {
	retry int64
	due   bool // of ready: it may be claimed; of claim: the lease has expired
	owner string
}

type exception struct{ status, retry int64 }

type head struct {
	head bool
	key  string
}

type joinRow struct{ expected, completed, failed, status int64 }

type member struct {
	id, status int64
	join       string
}

type leaseRow struct {
	token  int64
	held   bool
	holder string
}

type timerRow struct {
	status, retry int64
	owner         string
}

// snapshot is a committed state, by message where it is about messages.
type snapshot struct {
	messages, ready, claim, done map[int64]place
	exceptions                   map[int64]exception
	attempts                     map[int64]int64
	order                        map[int64]head
	joins                        map[string]joinRow
	members                      []member
	waits                        map[int64]string
	leases                       map[string]leaseRow
	timers                       map[int64]timerRow
	lines                        []string // all of it, without times
}

// newSnapshot sorts rows into a snapshot. It also returns what is in one table twice.
func newSnapshot(rows []row) (s *snapshot, doubled []string) {
	s = &snapshot{
		messages: map[int64]place{}, ready: map[int64]place{}, claim: map[int64]place{}, done: map[int64]place{}, exceptions: map[int64]exception{},
		attempts: map[int64]int64{}, order: map[int64]head{}, joins: map[string]joinRow{}, waits: map[int64]string{}, leases: map[string]leaseRow{}, timers: map[int64]timerRow{},
	}
	runs := map[string]map[int64]place{"ready": s.ready, "claim": s.claim, "done": s.done}
	for i := range rows {
		r := &rows[i]
		r.Name, r.More = plain(r.Name), plain(r.More)
		into, isRun := runs[r.Table]
		if !isRun {
			s.add(r)
			s.lines = append(s.lines, fmt.Sprint(*r))
			continue
		}
		p := place{retry: r.B, due: r.C == 1, owner: r.Name}
		for id := r.ID; id < r.ID+r.A; id++ {
			if _, twice := into[id]; twice {
				doubled = append(doubled, fmt.Sprintf("message %d is twice in %s", id, r.Table))
			}
			into[id] = p
			s.lines = append(s.lines, fmt.Sprint(r.Table, " ", id, p))
		}
	}
	slices.Sort(s.lines)
	return s, doubled
}

// add adds a row that is no run.
func (s *snapshot) add(r *row) {
	switch r.Table {
	case "message":
		s.messages[r.ID] = place{owner: r.Name}
	case "exception":
		s.exceptions[r.ID] = exception{r.A, r.B}
	case "attempt":
		s.attempts[r.ID] = r.A
	case "order":
		s.order[r.ID] = head{r.A == 1, r.Name}
	case "join":
		s.joins[r.Name] = joinRow{r.ID, r.A, r.B, r.C}
	case "member":
		s.members = append(s.members, member{r.ID, r.A, r.Name})
	case "wait":
		s.waits[r.ID] = r.Name
	case "lease":
		s.leases[r.Name] = leaseRow{r.ID, r.A == 1, r.More}
	case "timer":
		s.timers[r.ID] = timerRow{r.A, r.B, r.More}
	}
}

// ended reports whether a message has ended.
func (s *snapshot) ended(id int64) bool {
	_, done := s.done[id]
	return done || s.exceptions[id].status >= 3
}

// plain turns a token's bytes into the name that the scenario gave it.
func plain(text string) string {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(ID("")) {
		return text
	}
	name := strings.TrimRight(string(b), "\x00")
	if strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		return text // of a message
	}
	return name
}

// ID is an owner, holder or join of this name.
func ID(name string) (id [16]byte) {
	copy(id[:], name)
	return id
}

// snapshot reads the committed state.
func (w *world) snapshot(ctx context.Context) (*snapshot, error) {
	rows, err := w.read(ctx, w.stateQuery())
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	s, doubled := newSnapshot(rows)
	for _, d := range doubled {
		w.wrong("%s", d)
	}
	return s, nil
}

func (w *world) stateQuery() string {
	now, token := "clock_timestamp()", func(column string) string { return "encode(uuid_send(" + column + "), 'hex')" }
	if w.db.Engine() == "sqlite" {
		now, token = strconv.FormatInt(time.Now().UnixMicro(), 10), func(column string) string { return "lower(hex(" + column + "))" }
	}
	text := strings.ReplaceAll(stateQuery, "{now}", now)
	for {
		before, rest, found := strings.Cut(text, "{t ")
		if !found {
			return qualify(text, w.table)
		}
		column, after, _ := strings.Cut(rest, "}")
		text = before + token(column) + after
	}
}

// qualify replaces "pawl.x" by the name of the table.
func qualify(statement string, table func(string) string) string {
	return strings.ReplaceAll(statement, "pawl.", table(""))
}
