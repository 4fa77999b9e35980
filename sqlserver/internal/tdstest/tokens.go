package tdstest

import "fmt"

// Tokens of an answer.
const (
	returnStatusToken = 0x79
	columnsToken      = 0x81
	errorToken        = 0xAA
	outputToken       = 0xAC
	loginAckToken     = 0xAD
	rowToken          = 0xD1
	changeToken       = 0xE3
	doneToken         = 0xFD
	doneProcToken     = 0xFE
	doneInProcToken   = 0xFF
)

// Bits of a done token.
const (
	doneMore     = 0x01
	doneError    = 0x02
	doneTran     = 0x04
	doneCount    = 0x10
	doneCanceled = 0x20
)

// Statements of a done token.
const (
	selected = 0xC1
	changed  = 0xC5
)

// What changed in a session.
const (
	changedDatabase   = 1
	changedPacketSize = 4
	changedCollation  = 7
	tranBegun         = 8
	tranCommitted     = 9
	tranRolledBack    = 10
	sessionReset      = 18
)

// changeText appends a token that says what a setting of the session is and was.
func changeText(b []byte, what byte, now, before string) []byte {
	c := appendShortText([]byte{what}, now)
	c = appendShortText(c, before)
	return append(le16(append(b, changeToken), uint16(len(c))), c...)
}

func changeBytes(b []byte, what byte, now, before []byte) []byte {
	c := append([]byte{what, byte(len(now))}, now...)
	c = append(append(c, byte(len(before))), before...)
	return append(le16(append(b, changeToken), uint16(len(c))), c...)
}

func appendDone(b []byte, token byte, status, statement uint16, rows int64) []byte {
	return le64(le16(le16(append(b, token), status), statement), uint64(rows))
}

// appendError appends an error of the server.
func appendError(b []byte, e *Error) []byte {
	body := le32(nil, uint32(e.Number))
	body = append(body, e.State, e.Class)
	body = appendText(body, e.Message)
	body = appendShortText(body, "tdstest")
	body = appendShortText(body, e.Procedure)
	body = le32(body, uint32(e.Line))
	return append(le16(append(b, errorToken), uint16(len(body))), body...)
}

const nullable = 1 // of a column's flags

// appendColumns describes the columns of a result.
func appendColumns(b []byte, columns []Column) []byte {
	b = le16(append(b, columnsToken), uint16(len(columns)))
	for _, c := range columns {
		b = le16(le32(b, 0), nullable)
		b = appendShortText(appendType(b, c.Type), c.Name)
	}
	return b
}

// appendRow appends a row of a result.
func appendRow(b []byte, columns []Column, row []any) (_ []byte, err error) {
	if len(row) != len(columns) {
		return nil, fmt.Errorf("a row of %d values for %d columns", len(row), len(columns))
	}
	b = append(b, rowToken)
	for i, c := range columns {
		if b, err = appendValue(b, c.Type, row[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return b, nil
}

// appendResult appends what a statement answers; token and status are those of its end.
func appendResult(b []byte, r *Result, token byte, status uint16) (_ []byte, err error) {
	statement, n := uint16(changed), r.Count
	if r.Columns != nil {
		statement, n = selected, int64(len(r.Rows))
		b = appendColumns(b, r.Columns)
		for _, row := range r.Rows {
			if b, err = appendRow(b, r.Columns, row); err != nil {
				return nil, err
			}
		}
	}
	if !r.NoCount {
		status |= doneCount
	}
	return appendDone(b, token, status, statement, n), nil
}

// appendOutput appends a parameter that a procedure gives back.
func appendOutput(b []byte, place int, o *Output) ([]byte, error) {
	const ofProcedure = 1
	b = appendShortText(le16(append(b, outputToken), uint16(place)), o.Name)
	b = le16(le32(append(b, ofProcedure), 0), nullable)
	return appendValue(appendType(b, o.Type), o.Type, o.Value)
}

// tokens writes an answer to a batch or a call. inTran says whether a transaction is
// open behind it.
func (a *Answer) tokens(b []byte, kind Kind, inTran bool) (_ []byte, err error) {
	inner, status := byte(doneToken), uint16(0)
	if kind == Call {
		inner = doneInProcToken
	}
	if inTran {
		status = doneTran
	}
	for i := range a.Results {
		last := kind != Call && i == len(a.Results)-1 && a.Err == nil
		more := uint16(doneMore)
		if last {
			more = 0
		}
		if b, err = appendResult(b, &a.Results[i], inner, status|more); err != nil || last {
			return b, err
		}
	}
	if a.Err != nil {
		b = appendError(b, a.Err)
		if a.Behind != nil {
			b = appendError(b, a.Behind)
		}
		if len(a.Rest) == 0 {
			status |= doneError
		} else {
			b = appendDone(b, inner, status|doneError|doneMore, changed, 0)
		}
		for i := range a.Rest {
			if b, err = appendResult(b, &a.Rest[i], inner, status|doneMore); err != nil {
				return nil, err
			}
		}
	}
	if kind != Call {
		return appendDone(b, doneToken, status, 0, 0), nil
	}
	for i := range a.Outputs {
		if b, err = appendOutput(b, i, &a.Outputs[i]); err != nil {
			return nil, err
		}
	}
	b = le32(append(b, returnStatusToken), uint32(a.Return))
	return appendDone(b, doneProcToken, status, 0, 0), nil
}
