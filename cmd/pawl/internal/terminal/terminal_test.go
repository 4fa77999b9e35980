package terminal

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain — ünïcode ✓":  "plain — ünïcode ✓",
		"\x1b[31mred\a":      `\x1b[31mred\x07`,
		"two\nlines\r\tand":  `two\nlines\r\tand`,
		"csi\u009b2J":        `csi\x9b2J`,
		"bidi\u202etxt":      `bidi\u202etxt`,
		"zero\u200bwidth":    `zero\u200bwidth`,
		"broken\xffbytes":    "broken\ufffdbytes",
		"line\u2028sep":      `line\u2028sep`,
		"tag\U000e0041plane": `tag\ue0041plane`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := CleanText("a\n\tb\x1bc"); got != "a\n\tb\\x1bc" {
		t.Errorf("CleanText = %q", got)
	}
}

func TestCleanJSONStaysTheSameJSON(t *testing.T) {
	const text = "a\u009b\u202e\U000e0041\x7f\"\\é\n"
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	cleaned := CleanJSON(encoded)
	if strings.ContainsFunc(string(cleaned), steers) {
		t.Errorf("%q still steers", cleaned)
	}
	var back string
	if err := json.Unmarshal(cleaned, &back); err != nil || back != text {
		t.Errorf("%q came back as %q, %v", text, back, err)
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.Row("ID", "TOPIC", "ERROR")
	table.Row("1", "größe", "")
	table.Row("12345", "t", "two\nlines")
	var out bytes.Buffer
	if err := table.Write(&out, 20); err != nil {
		t.Fatal(err)
	}
	want := "ID     TOPIC  ERROR\n1      größe\n12345  t      two\\n…\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestLiveKeepsItsLineBelow(t *testing.T) {
	var screen bytes.Buffer
	l := &Live{w: &screen, on: true}
	w := l.Through(&screen)
	l.Show("1 done")
	if _, err := w.Write([]byte("output\n")); err != nil {
		t.Fatal(err)
	}
	l.Clear()
	want := clearLine + "1 done" + clearLine + "output\n" + "1 done" + clearLine
	if screen.String() != want {
		t.Errorf("wrote %q, want %q", screen.String(), want)
	}
}

func TestLiveIsSilentWithoutATerminal(t *testing.T) {
	var file bytes.Buffer
	l := NewLive(&file)
	l.Show("1 done")
	if _, err := l.Through(&file).Write([]byte("output\n")); err != nil {
		t.Fatal(err)
	}
	l.Clear()
	if file.String() != "output\n" {
		t.Errorf("wrote %q", file.String())
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLog(&out, slog.LevelWarn)).With("queue", "q")
	log.Info("quiet")
	log.Error("handler failed", "error", "two\nlines", "attempt", 3, "stack", "deep")
	_, line, _ := strings.Cut(out.String(), " ")
	if want := "handler failed queue=q attempt=3: two\\nlines\n"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
}
