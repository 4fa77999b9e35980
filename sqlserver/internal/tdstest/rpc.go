package tdstest

import "fmt"

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
