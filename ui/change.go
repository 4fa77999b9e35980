package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// act is what an operator does to a store, as a form says.
type act struct {
	context.Context
	*store
	*params
	v *visit
}

// change makes an act. It returns in words what became of it.
type change func(*act) (string, error)

// changes are what an operator can do, by the names of the actions.
func changes() map[string]change {
	return map[string]change{
		"retry": toFailed(func(a *act, f outbox.FailedFilter) (acts.Bulk, error) {
			return a.Outbox.Operator(access.Key{}).Redrive(a, f)
		}),
		"discard": toFailed(func(a *act, f outbox.FailedFilter) (acts.Bulk, error) {
			return a.Outbox.Operator(access.Key{}).Discard(a, f)
		}),
		"undiscard": undiscard, "stop-bulk": byID(uuid.Parse, stopBulk), "retopic": retopic,
		"cancel":     cancelMessage,
		"reschedule": rescheduleMessage,
		"pause": func(a *act) (string, error) {
			return became(a.Admin.Pause(a, a.kind(), a.Get("name"), a.Get("reason")))(a.subject(), "paused")
		},
		"resume": func(a *act) (string, error) {
			return became(a.Admin.Resume(a, a.kind(), a.Get("name")))(a.subject(), "resumed")
		},
		"limit": limitSubject,
		"unlimit": func(a *act) (string, error) {
			return became(a.Admin.RemoveLimit(a, a.kind(), a.Get("name")))(a.subject(), "has no limit any more")
		},
		"cancel-join": byID(uuid.Parse, func(a *act, id uuid.UUID) (string, error) { return became(a.Joins.Cancel(a, id))("join", "cancelled") }),
		"retry-join":  byID(uuid.Parse, retryJoin),
		"revive": func(a *act) (string, error) {
			return became(a.Inbox.Revive(a, inbox.Key{Source: a.Get("source"), MessageID: a.Get("id")}))("message", "revived")
		},
		"cancel-timer": byID(outbox.ParseMessageID, func(a *act, id outbox.MessageID) (string, error) {
			return became(a.Timers.Cancel(a, id))("timer", "cancelled")
		}),
		"reschedule-timer": byID(outbox.ParseMessageID, rescheduleTimer),
		"run-job":          runJob,
		"enable-job":       func(a *act) (string, error) { return "job enabled", a.Jobs.SetEnabled(a, a.Get("name"), true) },
		"disable-job":      func(a *act) (string, error) { return "job disabled", a.Jobs.SetEnabled(a, a.Get("name"), false) },
		"put-job":          putJob,
		"remove-job":       removeJob,
		"release-lease": func(a *act) (string, error) {
			return became(a.Leases.ForceRelease(a, a.Get("name")))("lease", "released")
		},
		"repair": repair,
	}
}

// kind is whether an act is about a topic or a queue.
func (a *act) kind() admin.Kind { return admin.Kind(a.Get("kind")) }

// subject is the topic or queue that an act is about.
func (a *act) subject() string { return a.Get("kind") + " " + a.Get("name") }

// became says whether something was changed.
func became(changed bool, err error) func(thing, done string) (string, error) {
	return func(thing, done string) (string, error) {
		if !changed {
			return "nothing was changed: the " + thing + " is in another state by now", err
		}
		return thing + " " + done, err
	}
}

// byID is a change of what the id of a form names.
func byID[ID any](parse func(string) (ID, error), do func(*act, ID) (string, error)) change {
	return func(a *act) (string, error) {
		id, err := parsed(parse, a.Get("id"))
		if err != nil {
			return "", err
		}
		return do(a, id)
	}
}

// readOnly is the answer to those who may not change anything.
const readOnly = "forbidden: your access is read-only"

// maxForm bounds what a form may send: a page of rows with the longest names that there are.
const maxForm = 1 << 20

// act makes a change and leads back to the page that it was made on. Who made it is in the audit
// trail and in the log.
func (s *server) act(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	name := r.PathValue("action")
	do, known := changes()[name]
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	switch err := r.ParseForm(); {
	case !known:
		http.Error(w, "404 no such action", http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, "400 "+err.Error(), http.StatusBadRequest)
		return
	case !v.access.Operator:
		s.log.WarnContext(r.Context(), "the dashboard refused a change", "action", name, "name", v.access.Name)
		http.Error(w, "403 "+readOnly, http.StatusForbidden)
		return
	}
	v.key = r.PostForm.Get("store")
	// It may take as long as its sender waits: then workers go on with a bulk act.
	unbounded(w)
	ctx := admin.WithReason(admin.WithActor(r.Context(), v.access.Name), r.PostForm.Get("reason"))
	st, err := v.s.source.open(ctx, v.key)
	did := ""
	if err == nil {
		did, err = toSelected(act{ctx, st, &params{Values: r.PostForm}, v}, do)
	}
	s.pictures.forget()
	if err != nil {
		sc := &screen{Title: "It was not done", Blocks: []block{{Error: said(err)}}}
		if again := (*unsaved)(nil); errors.As(err, &again) {
			sc, err = again.form, again.error
		}
		if !errors.Is(err, errPreview) {
			s.log.WarnContext(ctx, "a change by the dashboard failed", "action", name, "store", v.key, "name", v.access.Name, "error", err)
		}
		s.render(w, v, page{}, sc, statusOf(err))
		return
	}
	s.log.InfoContext(ctx, "changed by the dashboard", "action", name, "store", v.key, "name", v.access.Name, "result", did)
	// Not http.Redirect, which makes the path one from the root of a server that has taken a prefix off.
	w.Header().Set("Location", back(v.base, r.PostForm.Get("back"), s.notices.add(did)))
	w.WriteHeader(http.StatusSeeOther)
}

// back is the page that a change was made on, below the dashboard's root, with the key of what became of it.
func back(base, path, did string) string {
	at, err := url.Parse(path)
	if err != nil || at.IsAbs() || at.Host != "" || strings.HasPrefix(at.Path, "/") || strings.Contains(at.Path, "..") {
		at = &url.URL{}
	}
	q := at.Query()
	q.Set("did", did)
	return base + at.EscapedPath() + "?" + q.Encode()
}

// unbounded takes the time limits of the server from an answer. Without a limit of reading as well, a
// server would end the request's context.
func unbounded(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // not every writer has them
	_ = control.SetWriteDeadline(time.Time{})
}

// selection is what is done to the rows of a table that somebody selects.
type selection struct {
	Store  string
	Inputs []input // of all acts, each once
	Acts   []action
}

// pick lets a cell's row be selected, if something can be done to it, by what the fields of its own forms would be.
func pick(open bool, c cell, fields ...string) cell {
	if open {
		c.Pick = strings.TrimPrefix(queryOf(url.Values{}, fields...), "?")
	}
	return c
}

// acted is the first cell of a row and the one with what can be done to it, if anything can.
func acted(open bool, first cell, acts ...action) (cell, cell) {
	if !open {
		return first, cell{}
	}
	return pick(true, first, acts[0].Fields...), cell{Actions: acts}
}

// selectable offers acts for those rows of a table that can be selected, if there are any: check boxes and
// one form, which need no script.
func (t *table) selectable(s *store, acts ...action) *table {
	if !slices.ContainsFunc(t.Rows, func(row []cell) bool { return row[0].Pick != "" }) {
		return t
	}
	t.Select = &selection{Store: s.key, Acts: acts}
	for i := range acts {
		for _, in := range acts[i].Inputs {
			if !slices.ContainsFunc(t.Select.Inputs, func(known input) bool { return known.Name == in.Name }) {
				t.Select.Inputs = append(t.Select.Inputs, in)
			}
		}
	}
	return t
}

// toSelected makes a change to each row that was selected, and says what became of how many; of a form
// without rows it makes it to what the form names.
func toSelected(a act, do change) (string, error) {
	rows, form := a.Values["row"], a.Values
	if len(rows) == 0 {
		if form.Has("selected") {
			return "", engine.Invalid("row", "none is selected")
		}
		return do(&a)
	}
	var results []string
	var last error
	count, failed := map[string]int64{}, 0
	for _, row := range rows {
		named, err := url.ParseQuery(row)
		if err != nil {
			return "", engine.Invalid("row", "none of a table's")
		}
		a.params = &params{Values: maps.Clone(form)}
		maps.Copy(a.Values, named)
		did, err := do(&a)
		if err != nil {
			did, last, failed = said(err), err, failed+1
		}
		if count[did]++; count[did] == 1 {
			results = append(results, did)
		}
	}
	if failed == len(rows) {
		return "", last
	}
	for i, did := range results {
		results[i] = plural(count[did], "row") + ": " + did
	}
	return strings.Join(results, "; "), nil
}

// maxNotices is how many results of changes are remembered.
const maxNotices = 1000

// notices are what became of the last changes, by keys that nobody can guess: the page that a change
// leads back to has the key in its address, so that no link can make a page say what was not done.
// They are safe for concurrent use.
type notices struct {
	mu    sync.Mutex
	texts map[string]string
	order []string // of the keys, the oldest first
}

// add remembers a text and returns its key.
func (n *notices) add(text string) string {
	key := rand.Text()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.order) == maxNotices {
		delete(n.texts, n.order[0])
		n.order = n.order[1:]
	}
	n.texts[key] = text
	n.order = append(n.order, key)
	return key
}

// text returns the text of a key; none of one that is unknown, or was made by another process.
func (n *notices) text(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[key]
}
