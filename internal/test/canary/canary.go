// Package canary is for tests that nothing secret is told: it plants texts that
// occur nowhere else, and looks for them in everything that comes out.
package canary

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// Watch knows secrets, and what was told.
type Watch struct {
	mu      sync.Mutex
	secrets map[string]string // by where they were planted
	told    map[string]string // by where it came out
	log     bytes.Buffer
}

// New returns a watch that knows no secret yet.
func New() *Watch {
	return &Watch{secrets: map[string]string{}, told: map[string]string{}}
}

// Plant returns a secret to be put somewhere, the same for every call: letters
// and digits alone, so that nothing has to escape them.
func (w *Watch) Plant(where string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.secrets[where] == "" {
		w.secrets[where] = "kanari" + strings.ToLower(rand.Text()[:12])
	}
	return w.secrets[where]
}

// Logger collects every line, with all its attributes, as JSON.
func (w *Watch) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))
}

// Write is the logger's.
func (w *Watch) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

// Saw notes a text that came out somewhere.
func (w *Watch) Saw(where, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[where] += text + "\n"
}

// Failed notes an error that has to be one, in each of the ways to print it that
// programs use.
func (w *Watch) Failed(t testing.TB, where string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, so nothing is proved", where)
		return
	}
	w.Saw(where, fmt.Sprintf("%v %s %q", err, err, err))
}

// Lines are the log's lines so far.
func (w *Watch) Lines(t testing.TB) []map[string]any {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []map[string]any
	for line := range bytes.Lines(w.log.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("a line of the log is no JSON: %v: %s", err, line)
		}
		lines = append(lines, fields)
	}
	return lines
}

// Count is how many lines of the log have a message.
func (w *Watch) Count(t testing.TB, message string) (n int) {
	t.Helper()
	for _, line := range w.Lines(t) {
		if line["msg"] == message {
			n++
		}
	}
	return n
}

// forms are the ways in which a secret may come out.
func forms(secret string) []string {
	raw := []byte(secret)
	bytes := fmt.Sprint(raw) // [107 97 …]
	return []string{
		secret, strings.ToUpper(secret), hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)), bytes[1 : len(bytes)-1],
		base64.RawStdEncoding.EncodeToString(raw)[:len(raw)],
	}
}

// Check fails for every secret that was told, and for lines of the log whose
// values, but stacks, are of more than one line.
func (w *Watch) Check(t testing.TB) {
	t.Helper()
	for _, line := range w.Lines(t) {
		for key, value := range line {
			if text, ok := value.(string); ok && key != "stack" && strings.Contains(text, "\n") {
				t.Errorf("%q of %q has several lines: %s", key, line["msg"], text)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told["the log"] = w.log.String()
	for planted, secret := range w.secrets {
		for where, text := range w.told {
			for _, form := range forms(secret) {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("%s tells the secret of %s: …%s…", where, planted, text[max(0, at-200):min(len(text), at+200)])
					break
				}
			}
		}
	}
}
