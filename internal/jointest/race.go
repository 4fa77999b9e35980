package jointest

import (
	"errors"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

func raceTests() map[string]func(*testing.T, dbtest.Engine) {
	return map[string]func(*testing.T, dbtest.Engine){
		"200 acks at once": testManyAcks,
	}
}

// together runs n calls at once and returns when all have.
func (f *fixture) together(n int, call func(i int) error) {
	f.t.Helper()
	begin := make(chan struct{})
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	all.Wait()
	f.check(errors.Join(errs...))
}

// D-30, D-39
func testManyAcks(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 200
	id, msgs := f.members(n)
	f.wait(id, join.Wait{OnComplete: outbox.Message{Topic: "done"}, Queue: outbox.DefaultQueue})
	owner, items := f.claim(n)
	f.together(n, func(i int) error {
		got, err := f.box.Ack(f.ctx(), owner, items[msgs[i]])
		if err == nil && got != 1 {
			err = errors.New("an ack was lost")
		}
		return err
	})
	f.progress(id, n, 0, join.Completed)
	f.drain(nil)
	f.sent("done", 1)
}
