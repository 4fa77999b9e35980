package view_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-454: headers of credentials are masked wherever headers are shown, and stay what they are.
func TestHeadersOfCredentialsAreMasked(t *testing.T) {
	headers := map[string]string{"tenant": "7", "traceparent": "00-1-2-01", "content-type": "json", "author": "ann"}
	for _, name := range []string{"Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Auth-Token", "token", "access_token", "X-API-Key", "apikey", "db.password", "client-secret", "X-Session-Id", "x-auth"} {
		headers[name] = "hunter2"
	}
	for what, shown := range map[string]map[string]string{
		"headers": view.Headers(headers), "message": view.OfMessage(&outbox.Info{Message: outbox.Message{Headers: headers}}, true).Headers,
		"timer": view.OfTimer(&timer.Info{Timer: timer.Timer{Headers: headers}}).Headers, "job": view.OfJob(&job.Info{Job: job.Job{Headers: headers}}).Headers,
	} {
		for name, value := range shown {
			if want := headers[name]; want != "hunter2" && value != want || strings.Contains(value, "hunter2") {
				t.Errorf("%s: %s is %q", what, name, value)
			}
		}
		if len(shown) != len(headers) {
			t.Errorf("%s: %d of %d", what, len(shown), len(headers))
		}
	}
	if headers["token"] != "hunter2" {
		t.Error("the headers themselves were changed")
	}
}
