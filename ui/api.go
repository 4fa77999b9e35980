package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
)

// resource is something that the API answers with: the same data as --json on the command line. The test of the
// description, which is a file, makes that of the resources and of the types that they return.
type resource struct {
	path    string // below /api/v1/
	summary string
	params  []string // of the query; those of the path are in it
	result  any      // a value of the type that get returns, for the description
	list    bool     // get returns a []T, of which a page is sent, or the page
	get     func(v *visit, s *store) (any, error)
	change  bool // it is asked for by POST, and for operators: get changes what it returns
}

func (r *resource) method() string {
	return map[bool]string{false: http.MethodGet, true: http.MethodPost}[r.change]
}

type list struct {
	Items any `json:"items"`
	// Next is the value of the parameter after that the next page begins behind; none: this was the last.
	Next string `json:"next,omitempty"`
}

// resources are all of the API, in the order in which it is described.
func resources() []resource {
	return []resource{
		{path: "backlog", summary: "What waits, by queue, topic and state, and what else is there.", result: inspect.Backlog{}, get: func(v *visit, s *store) (any, error) { return inspect.ReadBacklog(v.Context(), s.db()) }},
		{path: "stats", summary: "What workers did, by topic and steps of time. Waits and takes have the number within each of the bounds of pawl stats.", params: []string{"since", "topic", "queue"}, result: inspect.Activity{}, get: stats},
		{path: "health", summary: "Whether work is done: what the checks found.", result: health.Report{}, get: func(v *visit, s *store) (any, error) { return v.redactReport(s.Health(v.Context())), nil }},
		{path: "doctor", summary: "Whether the database is in order: what the examination found.", result: health.Report{}, get: func(v *visit, s *store) (any, error) { return v.examine(v.Context(), s), nil }},
		{path: "failures", summary: "Messages that failed for good, and those that are retrying, by topic and kind of error, the most frequent first.", params: []string{"topic", "queue", "error", "fingerprint"}, result: []failure{}, list: true, get: apiFailures},
		{path: "messages", summary: "Messages, newest first. 10 000 are read for a page: it may have fewer than 50, or none, and a next one.", params: []string{"status", "topic", "queue", "correlation", "error", "fingerprint", "older", "newer", "id", "after"}, result: []view.Message{}, list: true, get: apiMessages},
		{path: "messages/{id}", summary: "A message with its failed attempts, by its id or position. The payload is there if payload=true and the caller may read it.", params: []string{"payload"}, result: view.Story{}, get: apiMessage},
		{path: "messages/{id}/flow", summary: "The steps of a flow, the signals that none took, and what it waits for; none of any other message. The first 4 KiB of results are there if payload=true and the caller may read them.", params: []string{"payload", "after"}, result: apiFlow{}, get: apiSteps},
		{path: "explain/{id}", summary: "Why a message, timer, job, run, join or message of the inbox has not run.", result: admin.Explanation{}, get: func(v *visit, s *store) (any, error) { return v.explain(s, v.PathValue("id")) }},
		{path: "joins", summary: "Joins, newest first.", params: []string{"status", "group", "after"}, result: []view.Join{}, list: true, get: listed((*visit).listJoins, view.OfJoin)},
		{path: "joins/{id}", summary: "A join.", result: view.Join{}, get: apiJoin},
		{path: "joins/{id}/members", summary: "Steps of a join, without results.", params: []string{"status", "after"}, result: []view.Member{}, list: true, get: apiMembers},
		{path: "inbox", summary: "Messages from outside.", params: []string{"status", "source", "id", "after"}, result: []view.Inbox{}, list: true, get: listed((*visit).listInbox, view.OfInbox)},
		{path: "timers", summary: "Timers.", params: []string{"status", "topic", "key", "id", "after"}, result: []view.Timer{}, list: true, get: listed((*visit).listTimers, view.OfTimer)},
		{path: "jobs", summary: "Jobs by name, without payloads.", params: []string{"after"}, result: []view.Job{}, list: true, get: listed((*visit).listJobs, view.OfJob)},
		{path: "jobs/{name}/runs", summary: "The last runs of a job.", result: []job.Run{}, list: true, get: func(v *visit, s *store) (any, error) { return v.runs(s, v.PathValue("name")) }},
		{path: "leases", summary: "Leases by name.", params: []string{"status", "after"}, result: []lease.Info{}, list: true, get: listed((*visit).listLeases, same)},
		{path: "workers", summary: "The processes that work on the database.", result: []registry.Info{}, list: true, get: func(v *visit, s *store) (any, error) { return inspect.ListWorkers(v.Context(), s.db()) }},
		{path: "pauses", summary: "What is paused.", result: []admin.Pause{}, list: true, get: func(v *visit, s *store) (any, error) { return s.Admin.Pauses(v.Context()) }},
		{path: "limits", summary: "Limits, and how much of them is used.", result: []admin.Limit{}, list: true, get: func(v *visit, s *store) (any, error) { return s.Admin.Limits(v.Context()) }},
		{path: "bulk", summary: "Bulk acts on failed messages that are stored, newest first.", result: []acts.Bulk{}, list: true, get: func(v *visit, s *store) (any, error) { return v.bulks(v.Context(), s) }},
		{path: "bulk/{id}", summary: "A bulk act.", result: acts.Bulk{}, get: func(v *visit, s *store) (any, error) { return v.bulk(s.Outbox.Operator(access.Key{}).Bulk) }},
		{path: "bulk/{id}/stop", summary: "Stops a bulk act, and returns it. What it has not changed yet is left as it is.", params: []string{"reason"}, result: acts.Bulk{}, get: func(v *visit, s *store) (any, error) { return v.bulk(s.Outbox.Operator(access.Key{}).StopBulk) }, change: true},
		{path: "audit", summary: "What operators did, newest first.", params: []string{"actor", "action", "after"}, result: []audit.Entry{}, list: true, get: listed((*visit).listAudit, same)},
	}
}

func apiFailures(v *visit, s *store) (any, error) {
	q := v.params()
	f := v.failedFilter(q)
	if q.err != nil {
		return nil, q.err
	}
	groups, _, err := v.failures(v.Context(), s, &f, true)
	return groups, err
}

func stats(v *visit, s *store) (any, error) {
	q := v.params()
	a, err := inspect.ReadActivity(v.Context(), s.db(), inspect.ActivityQuery{Since: q.duration("since", 0), Topic: q.Get("topic"), Queue: q.Get("queue")})
	v.redactActivity(&a)
	return a, cmp.Or(q.err, err)
}

func apiMessages(v *visit, s *store) (any, error) {
	opts, err := v.listOptions()
	if err != nil {
		return nil, err
	}
	p, err := v.listMessages(v.Context(), s, opts)
	return sent(p, func(m *outbox.Info) view.Message { return view.OfMessage(m, false) }), err
}

func apiMessage(v *visit, s *store) (any, error) {
	m, err := find(v.Context(), s, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	attempts, err := s.Outbox.Operator(access.Key{}).Attempts(v.Context(), m.Position)
	if err != nil {
		return nil, err
	}
	v.redactMessage(m)
	v.redactAttempts(m.Topic, attempts)
	size := len(m.Payload)
	switch {
	case v.query.Get("payload") != "true" || !v.access.Payloads:
		m.Payload = nil
	case v.s.opts.Redact != nil:
		m.Payload = v.s.opts.Redact(m.Topic, m.Payload)
	}
	one := view.OfStory(m, attempts)
	one.PayloadBytes = size
	if m.Payload == nil {
		one.Payload = nil
	}
	return one, nil
}

func apiSteps(v *visit, s *store) (any, error) {
	m, err := find(v.Context(), s, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return v.steps(s, m, v.query.Get("payload") == "true")
}

// listed answers with a page of a list.
func listed[T, V any](read func(*visit, context.Context, *store) (pageOf[T], error), of func(*T) V) func(*visit, *store) (any, error) {
	return func(v *visit, s *store) (any, error) {
		p, err := read(v, v.Context(), s)
		return sent(p, of), err
	}
}

func apiJoin(v *visit, s *store) (any, error) {
	j, err := v.join(s)
	if err != nil {
		return nil, err
	}
	return view.OfJoin(j), nil
}

func apiMembers(v *visit, s *store) (any, error) {
	j, err := v.join(s)
	if err != nil {
		return nil, err
	}
	p, err := v.members(s, j.ID)
	return sent(p, func(m *join.Member) view.Member {
		one := view.OfMember(j, m)
		one.Result, one.Member.Result = nil, nil
		return one
	}), err
}

func (s *server) api(w http.ResponseWriter, r *http.Request, one resource) {
	v := s.visit(r)
	if one.change {
		if !v.access.Operator {
			s.log.WarnContext(r.Context(), "the dashboard refused a change", "path", r.URL.Path, "name", v.access.Name)
			reply(w, http.StatusForbidden, map[string]string{"error": readOnly})
			return
		}
		v.Request = r.WithContext(admin.WithReason(admin.WithActor(r.Context(), v.access.Name), v.query.Get("reason")))
	}
	st, err := s.source.open(v.Context(), v.key)
	if s.source.fleet != nil && v.key == "" {
		err = engine.Invalid("store", "none is named; they are at stores")
	}
	var result any
	if err == nil {
		result, err = one.get(v, st)
	}
	if err != nil {
		s.log.WarnContext(r.Context(), "the dashboard could not read", "path", r.URL.Path, "store", v.key, "error", err)
		reply(w, statusOf(err), map[string]string{"error": err.Error()})
		return
	}
	if _, page := result.(list); one.list && !page {
		result = list{Items: result}
	}
	reply(w, http.StatusOK, result)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// routes adds the API to a mux.
func (s *server) routes(mux *http.ServeMux) {
	for _, one := range resources() {
		mux.HandleFunc(one.method()+" /api/v1/"+one.path, func(w http.ResponseWriter, r *http.Request) { s.api(w, r, one) })
	}
	mux.HandleFunc("GET /api/v1/stores", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, list{Items: append([]string{}, s.source.keys()...)})
	})
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "assets/openapi.json")
	})
}
