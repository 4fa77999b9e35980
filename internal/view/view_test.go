package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Lists have no payloads, only their sizes; text is readable where it is shown, and
// what is no text is not lost.
func TestJSON(t *testing.T) {
	later := time.Now().Add(time.Hour)
	message := func(payload string, status outbox.Status) *outbox.Info {
		return &outbox.Info{Message: outbox.Message{Topic: "t", Payload: []byte(payload)}, Status: status, NextAttemptAt: later}
	}
	aTimer := func(status timer.Status) *timer.Info {
		return &timer.Info{Timer: timer.Timer{Payload: []byte("text")}, Status: status, NextAttemptAt: later}
	}
	over := &join.Info{Status: join.Failed, Metadata: "text"}
	members := []join.Member{{Status: join.Pending}, {Status: join.Completed, Result: []byte("text")}, {Result: []byte("\xff")}}
	for _, c := range []struct {
		name     string
		view     any
		has, not []string
	}{
		{"listed message", OfMessage(message("text", outbox.Ready), false), []string{`"payload_bytes":4`, `"status":"scheduled"`, `"next_attempt_at"`}, []string{`"payload"`, "_base64"}},
		{"message", OfMessage(message("text", outbox.Done), true), []string{`"payload":"text"`, `"status":"done"`}, []string{"_base64", `"next_attempt_at"`}},
		{"binary message", OfMessage(message("\xff", outbox.Done), true), []string{`"payload_base64":"/w=="`, `"payload_bytes":1`}, []string{`"payload"`}},
		{"story", OfStory(message("text", outbox.Failed), []acts.Attempt{{Number: 1, Error: "no"}}), []string{`"payload":"text"`, `"attempts":[{"attempt":1,`}, nil},
		{"timer", OfTimer(aTimer(timer.Scheduled)), []string{`"payload_bytes":4`, `"next_attempt_at"`}, []string{"_base64"}},
		{"fired timer", OfTimer(aTimer(timer.Fired)), nil, []string{"payload", `"next_attempt_at"`}},
		{"job", OfJob(&job.Info{Job: job.Job{Payload: []byte("text"), Spread: 1500 * time.Millisecond}, Enabled: true}), []string{`"state":"enabled"`, `"spread_seconds":1.5`, `"payload_bytes":4`}, []string{"_base64"}},
		{"broken job", OfJob(&job.Info{Enabled: true, LastError: "no"}), []string{`"state":"broken"`}, nil},
		{"disabled job", OfJob(&job.Info{LastError: "no"}), []string{`"state":"disabled"`}, nil},
		{"listed join", OfJoin(over), []string{`"metadata_bytes":4`}, []string{`"metadata"`, `"members`}},
		{"join", OfJoinWithMembers(over, members, 7), []string{
			`"metadata":"text"`, `"members_not_shown":7`, `"state":"not counted"`, `"result":"text"`, `"result_base64":"/w=="`,
		}, []string{`"result_base64":"dGV4dA=="`}},
		{"join of which no member is shown", OfJoinWithMembers(over, nil, 0), []string{`"members":[]`, `"members_not_shown":0`}, nil},
		{"inbox", OfInbox(&inbox.Info{Key: inbox.Key{Source: "s", Hash: []byte{0xab}}}), []string{`"hash":"ab"`}, nil},
	} {
		text, err := json.Marshal(c.view)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.has {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s in %s", c.name, want, text)
			}
		}
		for _, other := range c.not {
			if strings.Contains(string(text), other) {
				t.Errorf("%s: %s in %s", c.name, other, text)
			}
		}
	}
}
