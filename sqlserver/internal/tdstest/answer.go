package tdstest

// Answer is what the server does about a request. The zero value says that all is well,
// and no more.
type Answer struct {
	// Results are what the statements answer, in order.
	Results []Result
	// Err comes behind the results.
	Err *Error
	// Behind is another error behind Err, as of a transaction that the server rolls back for it.
	Behind *Error
	// Rest is what the statements behind the one that failed answer: without XACT_ABORT most errors end a statement,
	// not the batch, and the error stands between done tokens.
	Rest []Result
	// Return is what a procedure returns.
	Return int32
	// Outputs are the parameters that a procedure gives back.
	Outputs []Output
	// Cut drops the connection.
	Cut Cut
	// Until delays the answer until the channel is closed. A client that cancels ends
	// the delay: then the request is not answered but confirmed as cancelled.
	Until <-chan struct{}
	// Silent leaves the request, and its cancellation, without an answer; the connection stays.
	Silent bool
	// Transaction is what the statements did to the transaction, where the request
	// itself does not say so.
	Transaction Change
}

// Result is what one statement answers: rows or a count.
type Result struct {
	Columns []Column
	Rows    [][]any
	// Count is how many rows a statement without columns changed.
	Count int64
	// NoCount leaves the number of rows out, as SET NOCOUNT ON does.
	NoCount bool
}

// Column is a column of an answer.
type Column struct {
	Name string
	Type Type
}

// Output is a parameter that a procedure gives back.
type Output struct {
	Name  string
	Type  Type
	Value any
}

// Error is an error of the server.
type Error struct {
	Number       int32
	State, Class byte
	Message      string
	Procedure    string
	Line         int32
}

// Cut is when the connection is dropped.
type Cut byte

// Moments to drop a connection: never, before anything of the answer was sent, when
// half of it was, or behind it.
const (
	NoCut Cut = iota
	Before
	Midway
	After
)

// Change is what happened to a connection's transaction.
type Change byte

// Changes of a transaction.
const (
	NoChange Change = iota
	Begun
	Committed
	RolledBack
)

// Rows is a result with rows.
func Rows(columns []Column, rows ...[]any) Result { return Result{Columns: columns, Rows: rows} }

// Counted is a result that says how many rows were changed.
func Counted(n int64) Result { return Result{Count: n} }

// Answered answers with results.
func Answered(results ...Result) Answer { return Answer{Results: results} }

// Failed answers with an error of the server. One that ends the transaction does so.
func Failed(number int32, text string) Answer {
	a := Answer{Err: &Error{Number: number, State: 1, Class: class(number), Message: text, Line: 1}}
	switch number {
	case 1205, 3960: // a deadlock, a conflict of snapshots
		a.Transaction = RolledBack
	}
	if a.Err.Class >= fatalClass {
		a.Cut = After
	}
	return a
}

// Doomed answers with an error that left the transaction so that it can only be rolled back, and was caught: at the
// end of the batch the server says so, and does it.
func Doomed(number int32, text string) Answer {
	a := Failed(number, text)
	a.Transaction = RolledBack
	a.Behind = &Error{Number: 3998, State: 1, Class: 16, Message: "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.", Line: 1}
	return a
}

// Dropped drops the connection at a moment.
func Dropped(at Cut, results ...Result) Answer { return Answer{Cut: at, Results: results} }

// fatalClass is the first class of errors behind which the server ends the connection.
const fatalClass = 20

// class is how severe an error is: 16 unless it is known to be another.
func class(number int32) byte {
	switch number {
	case 1205:
		return 13
	case 2601, 2627, 18456:
		return 14
	case 40613:
		return 17
	case 40501, 10928, 49918, 49919, 49920:
		return fatalClass
	}
	return 16
}
