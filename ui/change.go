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

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/engine"
)

// change is something that an operator does to a store. It returns in words what became of it.
type change func(ctx context.Context, s *store, form url.Values) (string, error)

// readOnly is the answer to those who may not change anything.
const readOnly = "forbidden: your access is read-only"

// maxForm bounds what a form may send: a page of rows with the longest names that there are.
const maxForm = 1 << 20

// act makes a change and leads back to the page that it was made on. Who made it is in the audit
// trail and in the log.
func (s *server) act(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	name := r.PathValue("action")
	do, known := changes(v)[name]
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
		did, err = toSelected(ctx, st, r.PostForm, do)
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
func toSelected(ctx context.Context, s *store, form url.Values, do change) (string, error) {
	rows := form["row"]
	if len(rows) == 0 {
		if form.Has("selected") {
			return "", engine.Invalid("row", "none is selected")
		}
		return do(ctx, s, form)
	}
	var results []string
	var last error
	count, failed := map[string]int64{}, 0
	for _, row := range rows {
		fields, err := url.ParseQuery(row)
		if err != nil {
			return "", engine.Invalid("row", "none of a table's")
		}
		one := maps.Clone(form)
		maps.Copy(one, fields)
		did, err := do(ctx, s, one)
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
