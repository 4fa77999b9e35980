package tdstest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Step is one request that a script expects, and what it is answered.
type Step struct {
	// Kind is what is to be asked for.
	Kind Kind
	// Like are texts that the statements, or the name of the procedure, have to contain.
	Like []string
	// Check looks at the request; nil: anything is right.
	Check func(t testing.TB, r *Request)
	// Answer is what the request is answered.
	Answer Answer
}

// Script is a list of requests that come in this order. Logins that it does not expect
// succeed.
type Script struct {
	t testing.TB

	mu    sync.Mutex
	steps []Step
	done  int
}

// NewScript returns a server that expects steps. What comes instead of them, and what
// does not come until the test ends, fails the test.
func NewScript(t testing.TB, steps ...Step) (*Server, *Script) {
	t.Helper()
	s := &Script{t: t, steps: steps}
	t.Cleanup(s.check)
	return New(t, s.handle), s
}

// Expect adds steps.
func (s *Script) Expect(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Left is how many steps have not come.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps) - s.done
}

// check runs when the server has ended.
func (s *Script) check() {
	if s.Left() > 0 {
		next := s.steps[s.done]
		s.t.Errorf("tdstest: step %d did not come: %s %q", s.done+1, next.Kind, next.Like)
	}
}

func (s *Script) handle(r *Request) Answer {
	step, ok := s.next(r)
	if !ok {
		if r.Kind == Login {
			return Answer{}
		}
		s.t.Errorf("tdstest: no step expects a %s", r)
		return Failed(50000, "not expected by the test's script")
	}
	if err := step.fits(r); err != nil {
		s.t.Errorf("tdstest: %v", err)
		return Failed(50000, "not what the test's script expects")
	}
	if step.Check != nil {
		step.Check(s.t, r)
	}
	return step.Answer
}

// next is the step of a request.
func (s *Script) next(r *Request) (*Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == len(s.steps) || r.Kind == Login && s.steps[s.done].Kind != Login {
		return nil, false
	}
	s.done++
	return &s.steps[s.done-1], true
}

// fits compares a request with a step.
func (s *Step) fits(r *Request) error {
	if s.Kind != r.Kind {
		return fmt.Errorf("a step of kind %s, but a %s", s.Kind, r)
	}
	for _, like := range s.Like {
		if !strings.Contains(r.SQL, like) && !strings.Contains(r.Procedure, like) {
			return fmt.Errorf("a step with %q, but a %s", like, r)
		}
	}
	return nil
}
