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
