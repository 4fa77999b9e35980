package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The workers must not outlive the demo, however it ends.
func TestDemoWorkersDieWithTheDemo(t *testing.T) {
	p := startProcess(t, []string{"TMPDIR=" + t.TempDir()}, "demo")
	var pids []string
	eventually(t, "workers", func() bool {
		pids = children(t, p.Process.Pid)
		return len(pids) >= 2
	})
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	for _, pid := range pids {
		eventually(t, "worker "+pid+" to end", func() bool { return gone(pid) })
	}
}

// children lists the processes that a process started.
func children(t *testing.T, parent int) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it ended meanwhile
		}
		// The name, in brackets, may hold anything; then come state and parent.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, filepath.Base(filepath.Dir(stat)))
		}
	}
	return pids
}
