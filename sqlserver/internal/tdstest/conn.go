package tdstest

import (
	"errors"
	"net"
)

// conn is one connection: a goroutine reads messages, another answers them.
type conn struct {
	s        *Server
	net      net.Conn
	number   int
	tran     uint64 // the one that is open, 0: none
	incoming chan *message
	ended    chan struct{} // closed when nobody answers any more
}

func newConn(s *Server, c net.Conn, number int) *conn {
	return &conn{s: s, net: c, number: number, incoming: make(chan *message), ended: make(chan struct{})}
}

// serve answers messages until one side closes the connection.
func (c *conn) serve() {
	c.s.wg.Go(c.read)
	defer close(c.ended)
	for m := range c.incoming {
		if err := c.answer(m); err != nil {
			if !errors.Is(err, errDropped) {
				c.s.t.Errorf("tdstest: connection %d: %v", c.number, err)
			}
			return
		}
	}
}

// read hands on what the client sends. What comes while a request is answered waits.
func (c *conn) read() {
	defer close(c.incoming)
	for {
		m, err := readMessage(c.net)
		if err != nil {
			return
		}
		select {
		case c.incoming <- m:
		case <-c.ended:
			return
		}
	}
}

// errDropped says that the connection is gone, or is to be dropped.
var errDropped = errors.New("dropped")

func (c *conn) answer(m *message) error {
	switch m.kind {
	case preloginMessage:
		return c.send(preloginAnswer(), true)
	case attentionMessage: // the answer was under way already
		return c.confirmCancel()
	}
	r, err := readRequest(m)
	if err != nil {
		return err
	}
	r.Conn = c.number
	if r.Transaction != 0 && r.Transaction != c.tran {
		return errors.New("a request in another transaction than the one that is open")
	}
	a := c.s.handle(r)
	if a.Silent {
		return c.silence()
	}
	if canceled, err := c.delay(&a); canceled || err != nil {
		return err
	}
	return c.reply(r, &a)
}

// confirmCancel says that a request was cancelled.
func (c *conn) confirmCancel() error {
	c.s.canceled()
	return c.send(appendDone(nil, doneToken, doneCanceled, 0, 0), true)
}

// silence says nothing any more.
func (c *conn) silence() error {
	for {
		select {
		case m, ok := <-c.incoming:
			if !ok {
				return errDropped
			}
			if m.kind == attentionMessage {
				c.s.canceled()
			}
		case <-c.s.done:
			return errDropped
		}
	}
}

// delay waits until an answer is to be sent.
func (c *conn) delay(a *Answer) (canceled bool, err error) {
	if a.Until == nil {
		return false, nil
	}
	select {
	case <-a.Until:
		return false, nil
	case <-c.s.done:
		return false, errDropped
	case m, ok := <-c.incoming:
		if !ok {
			return false, errDropped
		}
		if m.kind != attentionMessage {
			return false, errors.New("a request while another is under way")
		}
		return true, c.confirmCancel()
	}
}

// reply sends an answer.
func (c *conn) reply(r *Request, a *Answer) error {
	if a.Cut == Before {
		return errDropped
	}
	b, err := c.tokens(r, a)
	if err != nil {
		return err
	}
	if a.Cut == Midway {
		_ = c.send(b[:len(b)/2], false)
		return errDropped
	}
	if err := c.send(b, true); err != nil || a.Cut == After {
		return errDropped
	}
	return nil
}

// tokens writes an answer, with what it does to the session.
func (c *conn) tokens(r *Request, a *Answer) ([]byte, error) {
	var b []byte
	if r.Reset { // what was left open is rolled back
		b = c.change(b, RolledBack)
		b = changeBytes(b, sessionReset, nil, nil)
	}
	if r.Kind == Login && a.Err == nil {
		b = append(b, loginAnswer(r.Identity)...)
	}
	b = c.change(b, change(r, a))
	return a.tokens(b, r.Kind, c.tran != 0)
}

// change is what a request does to the transaction.
func change(r *Request, a *Answer) Change {
	if a.Err != nil || a.Transaction != NoChange {
		return a.Transaction
	}
	return map[Kind]Change{Begin: Begun, Commit: Committed, Rollback: RolledBack}[r.Kind]
}

// change changes the transaction and says so.
func (c *conn) change(b []byte, to Change) []byte {
	switch {
	case to == Begun:
		c.tran = c.s.begin()
		return changeBytes(b, tranBegun, descriptor(c.tran), nil)
	case to == NoChange || c.tran == 0:
		return b
	}
	before := descriptor(c.tran)
	c.tran = 0
	if to == Committed {
		return changeBytes(b, tranCommitted, nil, before)
	}
	return changeBytes(b, tranRolledBack, nil, before)
}

// send sends an answer, or with last false the beginning of one.
func (c *conn) send(b []byte, last bool) error {
	if _, err := c.net.Write(packets(b, last)); err != nil {
		return errDropped
	}
	return nil
}
