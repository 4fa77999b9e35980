package sqlserver

import (
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl/internal/engine"
)

// D-503: of several errors the first that has a class decides; what the server says of the transaction
// behind it hides nothing.
func TestFirstErrorDecides(t *testing.T) {
	several := func(numbers ...int32) error {
		var e mssql.Error
		var all []mssql.Error
		for _, n := range numbers {
			e = mssql.Error{Number: n, Message: "x"}
			all = append(all, e)
		}
		e.All = all
		return e
	}
	for _, c := range []struct {
		err  error
		want error
	}{
		{several(1205, 3998), engine.ErrDeadlock},
		{several(1222, 3998), engine.ErrBusy},
		{several(266, 1205), engine.ErrDeadlock},
		{several(2627, 3621), engine.ErrUnique},
		{several(3621, 3998), nil},
		{several(1205, 2627), engine.ErrDeadlock},
	} {
		if got := classify(c.err); !errors.Is(got, c.want) || c.want == nil && got != nil {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}
