package pawl

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-491: every option of the outbox is one of pawl's, and comes to it.
func TestEveryOption(t *testing.T) {
	var o Options
	own := reflect.TypeFor[worker.Options]()
	for i := range own.NumField() {
		want := own.Field(i)
		f := reflect.ValueOf(&o).Elem().FieldByName(want.Name)
		if !f.IsValid() || !f.Type().ConvertibleTo(want.Type) {
			t.Errorf("pawl.Options has no %s", want.Name)
			continue
		}
		f.Set(something(t, f.Type()))
		if got := reflect.ValueOf(o.workers()).FieldByName(want.Name); got.IsZero() {
			t.Errorf("%s does not come to the outbox", want.Name)
		}
	}
}

// something is a value that is not the zero value.
func something(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Second))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(of, 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
	case reflect.Interface:
		v.Set(reflect.ValueOf(slog.LevelWarn))
	default:
		t.Fatalf("an option of type %s", of)
	}
	return v
}
