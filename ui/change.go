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
		"undiscard":  undiscard,
		"stop-bulk":  byID(uuid.Parse, stopBulk),
		"retopic":    retopic,
		"cancel":     cancelMessage((*outbox.Outbox).Cancel),
		"stop":       cancelMessage((*outbox.Outbox).CancelRunning),
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
		"signal-flow":      byID(outbox.ParseMessageID, signalFlow),
		"cancel-flow":      byID(outbox.ParseMessageID, cancelFlow),
		"release-lease": func(a *act) (string, error) {
			return became(a.Leases.ForceRelease(a, a.Get("name")))("lease", "released")
		},
		"repair": repair,
	}
}

// offer are the actions of these names, about what the fields say.
func offer(names string, fields ...string) (all []action) {
	reason, due := []input{why()}, []input{{Name: "in", Label: "Due in", Value: "10m", Hint: "90s, 10m, 24h"}}
	known := map[string]action{
		"retry":            {Label: "Redrive"},
		"discard":          {Label: "Discard", Inputs: reason, Danger: true, Confirm: "What is discarded counts as given up, and cannot be redriven. " + takenBack},
		"undiscard":        {Label: "Undiscard"},
		"stop-bulk":        {Label: "Stop", Inputs: reason, Danger: true, Confirm: "What it has not changed yet is left as it is."},
		"retopic":          {Label: "Move to another topic", Inputs: []input{{Name: "topic", Label: "New topic"}}, Confirm: "They keep their ids, attempts and places in the order of their keys. What a worker holds stays."},
		"cancel":           {Label: "Cancel", Inputs: reason, Danger: true, Confirm: "What waits and is cancelled is discarded, and no attempt begins."},
		"stop":             {Label: "Stop", Inputs: reason, Danger: true, Confirm: "Within a second the context of its handler ends. If the handler returns an error the message is discarded."},
		"reschedule":       {Label: "Change due time", Inputs: due, Confirm: "What waits may be claimed from its due time on."},
		"pause":            {Label: "Pause", Inputs: reason, Confirm: "No more of its messages begin, in all processes, until it is resumed."},
		"resume":           {Label: "Resume"},
		"unlimit":          {Label: "Remove", Inputs: reason, Confirm: "What waits for it is claimed as anything else."},
		"cancel-join":      {Label: "Cancel", Inputs: reason, Danger: true, Confirm: "Nothing that waits for a cancelled join is sent. Its steps go on."},
		"retry-join":       {Label: "Retry", Inputs: reason, Confirm: "Failed steps of a join run again, and what waits for it waits for its next end."},
		"revive":           {Label: "Revive"},
		"cancel-timer":     {Label: "Cancel", Inputs: reason, Danger: true, Confirm: "It does not fire."},
		"reschedule-timer": {Label: "Change due time", Inputs: due, Confirm: "It fires then."},
		"run-job":          {Label: "Run now"},
		"enable-job":       {Label: "Enable"},
		"disable-job":      {Label: "Disable", Inputs: reason, Confirm: "What is disabled has no more runs until it is enabled."},
		"remove-job":       {Label: "Remove", Inputs: reason, Danger: true, Confirm: "What is removed has no more runs, and those that wait are removed. A run that is being worked on goes on, and the history of runs stays for a while."},
		"signal-flow":      {Label: "Send a signal", Inputs: []input{{Name: "signal", Label: "Signal"}, {Name: "data", Label: "Data", Type: "textarea", Hint: "JSON; none: null"}, why()}, Confirm: "The flow takes it when it asks for it."},
		"cancel-flow":      {Label: "Cancel the flow", Inputs: reason, Danger: true, Confirm: "What it did is undone, and it ends as discarded. The context of a step that runs ends within a second."},
		"new-job":          {Label: "New job", Page: "job/edit"},
		"edit-job":         {Label: "Edit", Page: "job/edit"},
		"release-lease":    {Label: "Release by force", Inputs: reason, Danger: true, Confirm: "Somebody else may have it at once. What its holder guards cannot be committed any more; anything else that it does goes on until it notices."},
		"repair":           {Label: "Repair", Confirm: "All that the doctor can repair in this database is repaired."},
	}
	for name := range strings.FieldsSeq(names) {
		one := known[name]
		one.Do, one.Fields = name, fields
		all = append(all, one)
	}
	return all
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
	// It may take as long as its sender waits: then workers go on with a bulk act. Without a limit of reading as well
	// a server would end the request's context.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // not every writer has them
	_ = control.SetWriteDeadline(time.Time{})
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

// notices are what became of the last changes, by keys that nobody can guess: the page that a change
// leads back to has the key in its address, so that no link can make a page say what was not done.
// They are safe for concurrent use.
type notices struct {
	mu    sync.Mutex
	texts map[string]string
}

// add remembers a text and returns its key.
func (n *notices) add(text string) string {
	key := rand.Text()
	n.mu.Lock()
	defer n.mu.Unlock()
	put(&n.texts, key, text, maxNotices)
	return key
}

// text returns the text of a key; none of one that is unknown, or was made by another process.
func (n *notices) text(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[key]
}
