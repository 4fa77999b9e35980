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

// procedures are those that are called by a number.
var procedures = map[uint16]string{10: "sp_executesql", 11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 15: "sp_unprepare"}

// byNumber is the length of a procedure's name that is a number.
const byNumber = 0xFFFF

// readCall reads the call of a procedure.
func (q *Request) readCall(r *reader) {
	if n := r.u16(); n == byNumber {
		number := r.u16()
		if q.Procedure = procedures[number]; q.Procedure == "" {
			r.fail(fmt.Errorf("no procedure has number %d", number))
		}
	} else {
		q.Procedure = r.text(int(n))
	}
	r.u16() // options
	for r.rest() > 0 && r.err == nil {
		q.Params = append(q.Params, readParam(r))
	}
	q.takeStatements(r)
}

// takeStatements takes what the procedures for statements are given out of the parameters.
func (q *Request) takeStatements(r *reader) {
	first, text := 0, 0
	switch q.Procedure {
	case "sp_executesql":
		first, text = 0, 1
	case "sp_prepexec":
		first, text = 2, -1 // a handle, the declarations, the statements
	default:
		return
	}
	if len(q.Params) <= first {
		r.fail(errShort)
		return
	}
	q.SQL, _ = q.Params[first].Value.(string)
	if at := first + text; at < len(q.Params) {
		q.Declared, _ = q.Params[at].Value.(string)
	}
	q.Params = q.Params[min(max(first, first+text)+1, len(q.Params)):]
}

// outputParam is the flag of a parameter that the procedure gives back.
const outputParam = 1

// readParam reads a parameter: its name, flags, type and value.
func readParam(r *reader) (p Param) {
	p.Name = r.shortText()
	p.Output = r.u8()&outputParam != 0
	t, fixed := readType(r)
	start := r.at
	if p.Type = t; t.id == tableType {
		p.Value = readTable(r)
	} else {
		p.Value = readValue(r, t, fixed)
	}
	p.Raw = r.b[start:r.at]
	return p
}

// Marks in a table-valued parameter.
const (
	noColumns    = 0xFFFF
	tableEnd     = 0
	tableRow     = 1
	defaultValue = 0x200 // of a column's flags: it has no values
)

// readTable reads a table-valued parameter.
func readTable(r *reader) any {
	r.shortText() // the database
	t := Table{Schema: r.shortText(), Name: r.shortText()}
	n := r.u16()
	if n == noColumns {
		return nil
	}
	given, fixed := make([]bool, n), make([]bool, n)
	for i := range given {
		r.u32() // the user's type
		given[i] = r.u16()&defaultValue == 0
		var column Type
		column, fixed[i] = readType(r)
		t.Columns = append(t.Columns, column)
		r.shortText() // no name
	}
	for mark := r.u8(); mark != tableEnd && r.err == nil; mark = r.u8() {
		r.fail(fmt.Errorf("a table with mark %#x", mark))
	}
	for mark := r.u8(); mark == tableRow && r.err == nil; mark = r.u8() {
		row := make([]any, n)
		for i, column := range t.Columns {
			if given[i] {
				row[i] = readValue(r, column, fixed[i])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// descriptor writes a transaction's number.
func descriptor(transaction uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, transaction)
}
