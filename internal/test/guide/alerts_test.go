package guide_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/apt"
)

// D-612: every alert is tried by promtool: it fires when it should, and none does in an hour of ordinary load.
func TestAlertRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		dir := t.TempDir()
		if err := apt.Unpack(t.Context(), dir, "prometheus"); err != nil {
			t.Fatal(err)
		}
		promtool = filepath.Join(dir, "usr/bin/promtool")
	}
	const rules = "../../../deploy/prometheus/"
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", rules+"pawl-alerts.test.yaml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	alerts, tests := read(t, rules+"pawl-alerts.yaml"), read(t, rules+"pawl-alerts.test.yaml")
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(alerts, -1) {
		if !strings.Contains(tests, `alertname="`+m[1]+`"`) {
			t.Errorf("no test has %s fire", m[1])
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
