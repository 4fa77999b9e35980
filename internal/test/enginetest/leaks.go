package enginetest

import (
	"runtime"
	"strings"
	"time"
)

// Goroutines are those that run at one moment, by their numbers.
type Goroutines map[string]bool

// Running returns the goroutines that run now.
func Running() Goroutines {
	all := Goroutines{}
	for _, stack := range stacks() {
		all[number(stack)] = true
	}
	return all
}

// Left returns the stacks of the goroutines that were started since and do not end within a minute.
func (g Goroutines) Left() string {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var left []string
		for _, stack := range stacks() {
			if !g[number(stack)] {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

func stacks() []string {
	for size := 1 << 20; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return strings.Split(strings.TrimSpace(string(text[:n])), "\n\n")
		}
	}
}

// number is "goroutine 7" of "goroutine 7 [running]:".
func number(stack string) string {
	n, _, _ := strings.Cut(stack, " [")
	return n
}
