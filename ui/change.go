package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
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
			sc, err = again.form, again.cause
		}
		if err != nil {
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
