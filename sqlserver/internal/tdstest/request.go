package tdstest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Kind is what a client asks for.
type Kind string

// Kinds of requests.
const (
	Login    Kind = "login"
	Batch    Kind = "batch"    // statements without parameters
	Call     Kind = "call"     // a procedure; sp_executesql has statements with parameters
	Begin    Kind = "begin"    // of a transaction
	Commit   Kind = "commit"   //
	Rollback Kind = "rollback" //
)

// Request is what a client asks for.
type Request struct {
	Kind Kind
	// Conn numbers the server's connections from 1.
	Conn int
	// Transaction is the one that the client says the request is in; 0: none.
	Transaction uint64
	// Reset says that the session is to be made like new first: the connection comes from a pool.
	Reset bool
	// SQL are the statements of a batch, of sp_executesql and of sp_prepexec.
	SQL string
	// Declared are the parameters of SQL, as in "@p1 int, @p2 bit".
	Declared string
	// Procedure is the one that a call names: "sp_executesql".
	Procedure string
	// Params are the parameters, in order, without those of sp_executesql itself.
	Params []Param
	// Isolation is the level of a transaction that begins.
	Isolation Isolation
	// Identity is who logs in.
	Identity *Identity
	// Body is the message as it was sent, without the headers of its packets.
	Body []byte
}

// Param is one parameter of a call.
type Param struct {
	Name   string // with its @; empty for one that is known by its place
	Type   Type
	Output bool
	Value  any
	// Raw are the bytes of the value and its length, as they were sent.
	Raw []byte
}

// Table is the value of a table-valued parameter.
type Table struct {
	Schema, Name string // of its type
	Columns      []Type
	Rows         [][]any
}

// Isolation is the level that a transaction begins with.
type Isolation byte

// Levels. CurrentLevel is the one that the session has.
const (
	CurrentLevel Isolation = iota
	ReadUncommitted
	ReadCommitted
	RepeatableRead
	Serializable
	Snapshot
)

// Param returns the parameter of a name, with or without its @, or nil.
func (r *Request) Param(name string) *Param {
	for i := range r.Params {
		if strings.TrimPrefix(r.Params[i].Name, "@") == strings.TrimPrefix(name, "@") {
			return &r.Params[i]
		}
	}
	return nil
}

// String says in a line what is asked for.
func (r *Request) String() string {
	text := string(r.Kind)
	if r.Procedure != "" {
		text += " of " + r.Procedure
	}
	if r.SQL != "" {
		text += ": " + strings.Join(strings.Fields(r.SQL), " ")
	}
	return text
}

// readRequest reads what a message asks for.
func readRequest(m *message) (*Request, error) {
	q := &Request{Reset: m.reset, Body: m.body}
	r := &reader{b: m.body}
	switch m.kind {
	case loginMessage:
		q.Kind = Login
		identity, err := readLogin(m.body)
		q.Identity = identity
		return q, err
	case batchMessage:
		q.Kind, q.Transaction = Batch, readHeaders(r)
		q.SQL = r.text(r.rest() / 2)
	case callMessage:
		q.Kind, q.Transaction = Call, readHeaders(r)
		q.readCall(r)
	case transactionMessage:
		q.Transaction = readHeaders(r)
		q.readTransaction(r)
	default:
		return nil, fmt.Errorf("a message of type %#x", m.kind)
	}
	return q, r.err
}

// transactionHeader is the kind of header that names the transaction.
const transactionHeader = 2

// readHeaders reads the headers in front of a request and returns the transaction.
func readHeaders(r *reader) (transaction uint64) {
	end := int(r.u32()) // the headers begin the message
	for r.at < end && r.err == nil {
		start := r.at
		length, kind := int(r.u32()), r.u16()
		if kind == transactionHeader {
			transaction = r.u64()
		}
		if length <= 0 {
			r.fail(errShort)
			return 0
		}
		r.at = min(start+length, len(r.b))
	}
	return transaction
}

// Requests for transactions.
const (
	beginRequest    = 5
	commitRequest   = 7
	rollbackRequest = 8
)

func (q *Request) readTransaction(r *reader) {
	switch kind := r.u16(); kind {
	case beginRequest:
		q.Kind, q.Isolation = Begin, Isolation(r.u8())
	case commitRequest:
		q.Kind = Commit
	case rollbackRequest:
		q.Kind = Rollback
	default:
		r.fail(fmt.Errorf("a request of type %d for transactions", kind))
	}
}

// descriptor writes a transaction's number.
func descriptor(transaction uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, transaction)
}
