package input_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/internal/engine"
)

// D-454: a line that is too long is refused by the name of the field that is, not as a payload.
func TestLongFieldsAreNamed(t *testing.T) {
	long := strings.Repeat("a", 10<<20)
	for field, line := range map[string]string{
		"topic":          `{"payload": {"topic": "x"}, "topic": "` + long + `", "queue": "q"}`,
		"queue":          `{"topic": "t", "queue": "` + long + `"}`,
		"correlation id": `{"correlation_id": "` + long,
		"ordering key":   `{"topic": "t", "ordering_key": "` + long + `"}`,
		"headers":        `{"topic": "t", "headers": {"topic": "` + long + `"}}`,
		"key":            `{"topic": "t", "key": "` + long + `"}`,
		"payload":        `{"topic": "t", "payload": {"topic": "` + long + `"}}`,
	} {
		_, err := input.Read(strings.NewReader(line+"\n"), input.Options{Format: input.Envelope})
		if want := "line 1: invalid argument: " + field + ": "; !errors.Is(err, engine.ErrInvalid) || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%s: %.200s", field, err)
		}
	}
	_, err := input.Read(strings.NewReader(`{"secret`+long+`": 1}`), input.Options{Format: input.Envelope})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%.200v", err)
	}
}
