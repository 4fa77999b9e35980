package tdstest

import (
	"errors"
	"testing"
)

// prepexec is a call of sp_prepexec, which the driver does not make: with an output
// parameter for the handle, the declarations and the statement.
func prepexec() []byte {
	b := le32(nil, 22) // all headers
	b = le16(le32(b, 18), transactionHeader)
	b = le32(le64(b, 7), 1)
	b = le16(le16(b, byNumber), 13)
	b = le16(b, 0)
	handle := append(appendShortText(nil, ""), outputParam)
	b = append(b, append(appendType(handle, Int), 0)...)
	for _, text := range []string{"@p1 bigint", "SELECT @p1"} {
		b = appendType(append(appendShortText(b, ""), 0), NVarChar(10))
		b, _ = appendValue(b, NVarChar(10), text)
	}
	b = appendType(append(appendShortText(b, "@p1"), 0), BigInt)
	b, _ = appendValue(b, BigInt, 5)
	return b
}

func TestPrepareAndExecute(t *testing.T) {
	r, err := readRequest(&message{kind: callMessage, body: prepexec()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Procedure != "sp_prepexec" || r.Transaction != 7 || r.SQL != "SELECT @p1" || r.Declared != "@p1 bigint" {
		t.Errorf("%s: %+v", r, r)
	}
	if len(r.Params) != 1 || r.Params[0].Value != int64(5) || r.Params[0].Type != BigInt {
		t.Errorf("%+v", r.Params)
	}
}

// A message that ends too early is an error, wherever it ends.
func TestShortMessages(t *testing.T) {
	whole := prepexec()
	fine := 0
	for n := range whole {
		_, err := readRequest(&message{kind: callMessage, body: whole[:n]})
		if err == nil {
			fine++ // it ends between two parameters
		} else if !errors.Is(err, errShort) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if fine > 2 {
		t.Errorf("%d parts of a message were read", fine)
	}
	if _, err := readRequest(&message{kind: 0x55}); err == nil {
		t.Error("a message of no known type was read")
	}
}

// What an answer cannot hold is an error, not another value.
func TestWrongValues(t *testing.T) {
	for _, row := range [][]any{{1, 2}, {"text"}, {true}, {[]byte{}}, {struct{}{}}} {
		a := Answered(Rows([]Column{{"n", BigInt}}, row))
		if _, err := a.tokens(nil, Batch, false); err == nil {
			t.Errorf("a row of %v was sent", row)
		}
	}
}
