package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// D-463: another signal counts a second after the first, and no earlier.
func TestEchoesOfASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, over := make(chan os.Signal), make(chan struct{})
		var asked []os.Signal
		go func() {
			obey(signals, func(s os.Signal) { asked = append(asked, s) })
			close(over)
		}()
		signals <- syscall.SIGTERM
		for _, after := range []time.Duration{0, 0, time.Second - 1} {
			time.Sleep(after)
			signals <- syscall.SIGINT
		}
		synctest.Wait()
		select {
		case <-over:
			t.Fatal("a signal within the first second counted")
		default:
		}
		time.Sleep(1)
		signals <- syscall.SIGTERM
		<-over
		if len(asked) != 1 || asked[0] != syscall.SIGTERM {
			t.Errorf("asked to stop by %v", asked)
		}
	})
}

// D-463: a signal that arrives while the process exits changes nothing of its exit code.
func TestSignalWhileExiting(t *testing.T) {
	for range 20 { // the default action of a signal of one's own may come after the exit
		p := startProcess(t, []string{lateSignal + "=1"}, "version")
		if code := p.wait(); code != exitOK {
			t.Fatalf("exit code %d: %s", code, p.stderr.String())
		}
	}
}
