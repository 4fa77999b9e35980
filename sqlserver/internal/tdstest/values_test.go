package tdstest_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

var (
	guid = [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10}
	at   = time.Date(2024, 2, 29, 23, 59, 58, 123_456_700, time.UTC)
	long = strings.Repeat("ä𝄞\n", 3000) // longer than a packet, and not all of it in one unit
)

func TestColumns(t *testing.T) {
	zoned := at.In(time.FixedZone("", -150*60))
	columns := []struct {
		typ  tdstest.Type
		is   any
		into any // a pointer to what the driver makes of it
	}{
		{tdstest.TinyInt, 255, new(int64)},
		{tdstest.SmallInt, -300, new(int64)},
		{tdstest.Int, math.MinInt32, new(int64)},
		{tdstest.BigInt, int64(math.MaxInt64), new(int64)},
		{tdstest.Bit, true, new(bool)},
		{tdstest.Float, 1.5, new(float64)},
		{tdstest.NVarChar(4000), "naïve 𝄞", new(string)},
		{tdstest.NVarCharMax, long, new(string)},
		{tdstest.NVarCharMax, "", new(string)},
		{tdstest.VarBinary(8000), []byte{0, 1, 255}, new([]byte)},
		{tdstest.VarBinaryMax, bytes.Repeat([]byte{7}, 100_000), new([]byte)},
		{tdstest.VarBinaryMax, []byte{}, new([]byte)},
		{tdstest.DateTime2, at, new(time.Time)},
		{tdstest.DateTimeOffset, zoned, new(time.Time)},
		{tdstest.UniqueIdentifier, guid, new(mssql.UniqueIdentifier)},
	}
	var described []tdstest.Column
	var row, null, into []any
	for _, c := range columns {
		described = append(described, tdstest.Column{Name: c.typ.String(), Type: c.typ})
		row, null, into = append(row, c.is), append(null, nil), append(into, c.into)
	}
	rows, err := open(t, tdstest.New(t, fixed(tdstest.Answered(tdstest.Rows(described, row, null))))).Query("SELECT * FROM t")
	must(t, err)
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	must(t, rows.Scan(into...))
	for i, c := range columns {
		if got := reflect.ValueOf(c.into).Elem().Interface(); !equal(got, c.is) {
			t.Errorf("%s: got %v, want %v", c.typ, got, c.is)
		}
		into[i] = new(any)
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	must(t, rows.Scan(into...))
	for i, c := range columns {
		if got := *into[i].(*any); got != nil {
			t.Errorf("a NULL of %s: %v", c.typ, got)
		}
	}
	names, err := rows.Columns()
	if err != nil || names[7] != "nvarchar(max)" || names[12] != "datetime2(7)" {
		t.Errorf("columns %v, %v", names, err)
	}
}

func equal(got, want any) bool {
	switch w := want.(type) {
	case int:
		return got == int64(w)
	case time.Time:
		g := got.(time.Time)
		_, a := g.Zone()
		_, b := w.Zone()
		return g.Equal(w) && a == b
	case [16]byte:
		return [16]byte(got.(mssql.UniqueIdentifier)) == w
	}
	return reflect.DeepEqual(got, want)
}

// sent returns the parameters that a driver sends for arguments.
func sent(t *testing.T, query string, args ...any) *tdstest.Request {
	t.Helper()
	got := make(chan *tdstest.Request, 1)
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Call {
			got <- r
		}
		return tdstest.Answer{}
	})
	_, err := open(t, s).Exec(query, args...)
	must(t, err)
	return <-got
}

func TestParameters(t *testing.T) {
	params := []struct {
		is   any
		typ  string
		want any
	}{
		{int64(-5), "bigint", int64(-5)},
		{int32(7), "int", int64(7)},
		{byte(200), "tinyint", int64(200)},
		{true, "bit", true},
		{2.5, "float", 2.5},
		{"text", "nvarchar(4)", "text"},
		{mssql.NVarCharMax("text"), "nvarchar(max)", "text"},
		{long, "nvarchar(max)", long},
		{mssql.VarChar("text"), "varchar(4)", "text"},
		{[]byte{1, 2}, "varbinary(2)", []byte{1, 2}},
		{[]byte{}, "varbinary(max)", []byte{}},
		{bytes.Repeat([]byte{3}, 9000), "varbinary(max)", bytes.Repeat([]byte{3}, 9000)},
		{mssql.UniqueIdentifier(guid), "uniqueidentifier", guid},
		{at, "datetimeoffset(7)", at},
		{civil.DateTimeOf(at), "datetime2(7)", at},
		{sql.NullInt64{}, "bigint", nil},
		{sql.NullInt32{}, "int", nil},
		{sql.NullBool{}, "bit", nil},
		{sql.NullFloat64{}, "float", nil},
		{sql.NullString{}, "nvarchar(4000)", nil},
		{sql.NullTime{}, "datetimeoffset(7)", nil},
		{mssql.NullDateTime{}, "datetime2(7)", nil},
		{nil, "null", nil},
	}
	var args []any
	for _, p := range params {
		args = append(args, p.is)
	}
	r := sent(t, "SELECT @p1, @p2", args...)
	if r.Procedure != "sp_executesql" || r.SQL != "SELECT @p1, @p2" || !strings.HasPrefix(r.Declared, "@p1 bigint,@p2 int,@p3 tinyint,@p4 bit,") {
		t.Errorf("%s, declared %q", r, r.Declared)
	}
	if len(r.Params) != len(params) {
		t.Fatalf("%d parameters", len(r.Params))
	}
	for i, p := range params {
		got := r.Params[i]
		same := reflect.DeepEqual(got.Value, p.want)
		if w, ok := p.want.(time.Time); ok {
			same = got.Value.(time.Time).Equal(w)
		}
		if got.Type.String() != p.typ || !same {
			t.Errorf("%T is sent as %s %v, want %s %v", p.is, got.Type, got.Value, p.typ, p.want)
		}
	}
}

// The driver sends a NULL of mssql.NullUniqueIdentifier as sixteen bytes behind a length
// of none, which no server can read: what may be null is to be sent as another type. When
// this test fails the driver was repaired.
func TestNullUniqueIdentifierCannotBeRead(t *testing.T) {
	n := &notes{TB: t}
	_, err := open(t, tdstest.New(n, nil)).Exec("SELECT @p1", mssql.NullUniqueIdentifier{})
	if err == nil {
		t.Error("it was read")
	}
	if got := n.end(); !strings.Contains(got, "type 0x0 is not known") {
		t.Errorf("failures: %q", got)
	}
}

func TestNamedProcedure(t *testing.T) {
	a := tdstest.Answer{Return: 4, Outputs: []tdstest.Output{{Name: "@n", Type: tdstest.BigInt, Value: int64(9)}}}
	a.Results = []tdstest.Result{
		{Columns: []tdstest.Column{{Name: "id", Type: tdstest.Int}}, Rows: [][]any{{1}, {2}}, NoCount: true},
		tdstest.Counted(5),
		tdstest.Rows([]tdstest.Column{{Name: "id", Type: tdstest.Int}}, []any{3}),
	}
	got := make(chan *tdstest.Request, 1)
	pool := open(t, tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind != tdstest.Call {
			return tdstest.Answer{}
		}
		got <- r
		return a
	}))
	var status mssql.ReturnStatus
	var n int64
	rows, err := pool.Query("pawl.claim", sql.Named("queue", "q"), sql.Named("n", sql.Out{Dest: &n}), &status)
	must(t, err)
	defer rows.Close()
	var ids []int64
	for again := true; again; again = rows.NextResultSet() {
		for rows.Next() {
			var id int64
			must(t, rows.Scan(&id))
			ids = append(ids, id)
		}
	}
	must(t, rows.Err())
	if r := <-got; r.Procedure != "pawl.claim" || r.Param("queue").Value != "q" || !r.Param("@n").Output || r.Param("x") != nil {
		t.Errorf("%s: %+v", r, r.Params)
	}
	if !reflect.DeepEqual(ids, []int64{1, 2, 3}) || status != 4 || n != 9 {
		t.Errorf("ids %v, status %d, n %d", ids, status, n)
	}
}

func TestCounts(t *testing.T) {
	res, err := open(t, tdstest.New(t, fixed(tdstest.Answered(tdstest.Counted(2), tdstest.Counted(40))))).Exec("DELETE t; DELETE u")
	must(t, err)
	if n, _ := res.RowsAffected(); n != 42 {
		t.Errorf("%d rows", n)
	}
}

// The first three groups of a uniqueidentifier are sent with their lowest byte first.
func TestUniqueIdentifierOrder(t *testing.T) {
	r := sent(t, "SELECT @id", sql.Named("id", mssql.UniqueIdentifier(guid)))
	if got := hex.EncodeToString(r.Param("id").Raw); got != "10"+"67452301"+"ab89"+"efcd"+"fedcba9876543210" {
		t.Errorf("sent %s", got)
	}
	if r.Param("id").Value != guid || tdstest.Swap(tdstest.Swap(guid)) != guid {
		t.Errorf("read %v", r.Param("id").Value)
	}
}

func TestTable(t *testing.T) {
	type row struct {
		ID   int64
		N    int32
		Key  mssql.UniqueIdentifier
		Text *string
		Body []byte
		At   *time.Time
		Is   bool
		Lag  sql.NullInt64
	}
	text := "x"
	r := sent(t, "pawl.enqueue", sql.Named("rows", mssql.TVP{TypeName: "pawl.row_list", Value: []row{
		{ID: 1, N: 2, Key: guid, Text: &text, Body: []byte{9}, At: &at, Is: true, Lag: sql.NullInt64{Int64: 6, Valid: true}}, {ID: 3},
	}}), sql.Named("none", mssql.TVP{TypeName: "pawl.row_list", Value: []row{}}))
	table, ok := r.Param("rows").Value.(tdstest.Table)
	if !ok || table.Schema != "pawl" || table.Name != "row_list" || len(table.Rows) != 2 {
		t.Fatalf("%+v", r.Params)
	}
	var types []string
	for _, c := range table.Columns {
		types = append(types, c.String())
	}
	if got := strings.Join(types, " "); got != "bigint int uniqueidentifier nvarchar(max) varbinary(max) datetimeoffset(7) bit bigint" {
		t.Errorf("columns %s", got)
	}
	first := table.Rows[0]
	if !first[5].(time.Time).Equal(at) {
		t.Errorf("time %v", first[5])
	}
	first[5] = nil
	if want := []any{int64(1), int64(2), guid, "x", []byte{9}, nil, true, int64(6)}; !reflect.DeepEqual(first, want) {
		t.Errorf("got %v, want %v", first, want)
	}
	if want := []any{int64(3), int64(0), [16]byte{}, nil, nil, nil, false, nil}; !reflect.DeepEqual(table.Rows[1], want) {
		t.Errorf("got %v, want %v", table.Rows[1], want)
	}
	if none := r.Param("none").Value.(tdstest.Table); len(none.Rows) != 0 || len(none.Columns) != 8 {
		t.Errorf("an empty table: %+v", none)
	}
}
