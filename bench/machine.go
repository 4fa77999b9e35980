package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// disturbed is the load of other processes, in cores, above which a repetition says more
// about them than about what it measures.
const disturbed = 0.5

// machineCPU is the processor time that everything on this machine has used, time that
// a hypervisor gave to others included. 0 where /proc has it not.
func machineCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var total time.Duration
	// After the name: user, nice, system, idle, iowait, irq, softirq, steal.
	for i, field := range strings.Fields(string(line)) {
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		ticks, _ := strconv.ParseInt(field, 10, 64)
		total += time.Duration(ticks) * clockTick
	}
	return total
}

// machine describes where the figures come from.
func machine() string {
	description := fmt.Sprintf("%d cores", runtime.NumCPU())
	if model := processor(); model != "" {
		description += ", " + model
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		description += ", " + runtime.GOOS + " " + strings.TrimSpace(string(kernel))
	}
	return description
}

// goVersion is the Go that built this program.
func goVersion() string { return "Go " + strings.TrimPrefix(runtime.Version(), "go") }

// processor is the model's name, "" where it is not to be had.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
