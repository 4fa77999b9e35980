package sqlserver_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/replaytest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// filler makes values that differ from each other and from zero.
type filler struct{ n int64 }

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch dest := v.Addr().Interface().(type) {
	case *time.Time:
		*dest = time.Date(2026, 2, 3, 4, 5, 6, int(f.n)*1000, time.UTC)
		return
	case *time.Duration:
		*dest = time.Duration(f.n) * time.Microsecond
		return
	case *[16]byte:
		for i := range dest {
			dest[i] = byte(int(f.n) + 16*i)
		}
		return
	case *[]byte:
		*dest = []byte{0, byte(f.n), 255}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(`naïve 𝄞 "quoted" it's \ ` + strconv.FormatInt(f.n, 10))
	default:
		v.SetInt(f.n)
	}
}

// filled is an operation with a value in every field.
func filled(o engine.Operation) engine.Operation {
	v := reflect.New(reflect.TypeOf(o)).Elem()
	(&filler{}).fill(v)
	return v.Interface().(engine.Operation)
}

// blank is an operation with nothing in any field: no elements, and NULL where that can be.
func blank(o engine.Operation) engine.Operation {
	return reflect.Zero(reflect.TypeOf(o)).Interface().(engine.Operation)
}

// sent are the operations that have a statement.
func sent() (all []engine.Operation) {
	for _, o := range op.All() {
		if _, look := o.(op.GenerationCheck); !look {
			all = append(all, o)
		}
	}
	return all
}

// ignored are the fields that an operation's statement says it leaves out.
func ignored(s *engine.Statement, o reflect.Value) (all []engine.Field) {
	used := map[string]bool{}
	for i := range s.Parameters() {
		name, _ := s.Parameter(i + 1)
		used[name] = true
	}
	for _, f := range engine.Fields(o.Type()) {
		if !used[f.Name] {
			all = append(all, f)
		}
	}
	return all
}

// D-9: every parameter of every operation arrives as it was given, filled and empty, and
// every column of its answer is read as it was sent, NULL included. No null is without a type.
func TestEveryOperationOverTheWire(t *testing.T) {
	for _, o := range sent() {
		t.Run(engine.NameOf(o), func(t *testing.T) {
			t.Parallel()
			for name, given := range map[string]engine.Operation{"filled": filled(o), "blank": blank(o)} {
				t.Run(name, func(t *testing.T) { roundTrip(t, given, name == "blank") })
			}
		})
	}
}

func roundTrip(t *testing.T, given engine.Operation, null bool) {
	var w *wire
	var asked []replaytest.Asked
	w = onWire(t, func(r *tdstest.Request) (a tdstest.Answer) {
		var err error
		if asked, err = replaytest.Decode(w.Texts(), r); err != nil || len(asked) != 1 {
			t.Errorf("%d operations were sent: %v", len(asked), err)
			return tdstest.Failed(50000, "not understood")
		}
		for _, p := range r.Params {
			if p.Type.String() == "null" {
				t.Errorf("@%s is a null of no type", strings.TrimPrefix(p.Name, "@"))
			}
		}
		columns, err := replaytest.Columns(asked[0].Statement)
		if err != nil {
			t.Error(err)
		}
		return tdstest.Answered(tdstest.Rows(columns, answerRow(asked[0].Statement, null)), committed)
	})
	statement := statementOf(t, w, engine.NameOf(given))
	call := engine.Ask(given)
	var got []any
	if isRow(statement) {
		call.Each = func(r engine.Row) error {
			v := reflect.New(statement.Row()).Elem()
			err := r.Scan(replaytest.Dest(v)...)
			got = replaytest.Values(v)
			return err
		}
	}
	enginetest.Must(t, w.do(call))
	if len(asked) != 1 {
		t.Fatal("nothing was sent")
	}
	compare(t, statement, given, asked[0].Operation)
	switch sent := answerRow(statement, null); {
	case !isRow(statement) && call.N != 7:
		t.Errorf("the answer was read as %d", call.N)
	case isRow(statement) && !reflect.DeepEqual(got, sent):
		t.Errorf("read %v\nsent %v", got, sent)
	}
}

// compare compares an operation with what arrived of it, but for the fields that its
// statement says it leaves out.
func compare(t *testing.T, s *engine.Statement, given, arrived engine.Operation) {
	t.Helper()
	want, got := reflect.New(reflect.TypeOf(given)).Elem(), reflect.New(reflect.TypeOf(given)).Elem()
	want.Set(reflect.ValueOf(given))
	got.Set(reflect.ValueOf(arrived))
	for _, f := range ignored(s, want) {
		want.FieldByIndex(f.Index).SetZero()
	}
	if !reflect.DeepEqual(normal(got), normal(want)) {
		t.Errorf("arrived %+v\ngiven   %+v", got, want)
	}
}

func statementOf(t *testing.T, w *wire, name string) *engine.Statement {
	t.Helper()
	for _, s := range w.Texts() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no statement %s", name)
	return nil
}

func isRow(s *engine.Statement) bool { return s.Row() != nil && s.Row().Kind() == reflect.Struct }

// answerRow is what the server answers: the number 7, or a row.
func answerRow(s *engine.Statement, null bool) []any {
	if !isRow(s) {
		return []any{int64(7)}
	}
	v := reflect.New(s.Row()).Elem()
	if !null {
		(&filler{}).fill(v)
	}
	return replaytest.Values(v)
}

// normal makes empty lists nil: which of the two was sent no statement can tell.
func normal(v reflect.Value) any {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				normal(f)
			}
		}
	}
	if v.Kind() == reflect.Slice && v.CanSet() {
		if v.Len() == 0 {
			v.SetZero()
		}
		for i := range v.Len() {
			normal(v.Index(i))
		}
	}
	return v.Interface()
}
