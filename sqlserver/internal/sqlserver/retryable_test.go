package sqlserver_test

import (
	"fmt"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl"
)

// D-242: an error of the driver's that others caused is one after which the transaction can be
// repeated; of several the first that has a class counts.
func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  mssql.Error
		want bool
	}{
		{mssql.Error{Number: 1205}, true},
		{mssql.Error{Number: 1222}, true},
		{mssql.Error{Number: 3960}, true},
		{mssql.Error{Number: 3998, All: []mssql.Error{{Number: 1205}, {Number: 3998}}}, true},
		{mssql.Error{Number: 3998, All: []mssql.Error{{Number: 2627}, {Number: 3998}}}, false},
		{mssql.Error{Number: 2627}, false},
	} {
		if got := pawl.Retryable(fmt.Errorf("place order: %w", c.err)); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
