package ui_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/ui"
)

// D-704: in place of a payload that is sealed or offloaded the pages of a message and of a job say so, with the
// key's id and the size. A program's Redact gets none of it.
func TestSealedIsShown(t *testing.T) {
	f := openEmpty(t)
	sealed := pawl.Sealed(nil, pawltest.Keys())
	for topic, codec := range map[string]pawl.Codec{"sealed": sealed, "offloaded": pawl.Offload(sealed, pawltest.NewStore(), 0)} {
		topic := pawl.NewTopic[string](topic, pawl.TopicOptions{Codec: codec})
		id, err := topic.Enqueue(f.ctx(), f.Pawl, "secret")
		f.check(err)
		f.check(f.Jobs.Put(f.ctx(), topic.Every("@yearly", "", "secret")))
		s := serve(t, ui.Of(f.Pawl), ui.Options{Redact: func(_ string, text []byte) []byte {
			if len(text) > 0 {
				t.Errorf("redact %q", text)
			}
			return text
		}})
		want := map[string]string{"messages/" + id.String(): map[string]string{"sealed": "Sealed with key test, 85 bytes.", "offloaded": "Offloaded, 88 bytes, blob "}[topic.Name()], "job?name=" + topic.Name(): "Sealed with key test, "}
		for path, want := range want {
			if _, body, _ := get(t, s, path); !strings.Contains(body, want) || strings.Contains(body, "secret") || strings.Contains(body, "pawl</pre>") {
				t.Errorf("%s: no %q in %s", path, want, body)
			}
		}
	}
}
