package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// D-302: whatever the text, nothing of it steers, and JSON stays the same JSON.
func FuzzClean(f *testing.F) {
	f.Add("x\x1b[2J\u009b\u202e\u2028\r\n\xff\U000e0041")
	f.Add(`{"a":"\u001b"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := Clean(text); strings.ContainsFunc(got, steers) || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		lines := strings.NewReplacer("\n", "", "\t", "").Replace(CleanText(text))
		if strings.ContainsFunc(lines, steers) {
			t.Errorf("%q", lines)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := JSON(&b).Write(append(encoded, '\n')); err != nil {
			t.Fatal(err)
		}
		var back, want string
		if json.Unmarshal(b.Bytes(), &back) != nil || json.Unmarshal(encoded, &want) != nil || back != want || strings.ContainsFunc(strings.TrimSuffix(b.String(), "\n"), steers) {
			t.Errorf("%q became %q", encoded, b.String())
		}
	})
}
