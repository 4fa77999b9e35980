package fleet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/test/fleettest"
)

// OBX-066, OBX-071, OBX-107, D-90, D-94: tenants' messages never cross stores, whatever their engines, and every line of
// the log says which store it is about.
func TestTenantCanaries(t *testing.T) {
	t.Parallel()
	keys := make([]string, 18)
	for i := range keys {
		keys[i] = fmt.Sprintf("tenant-%02d", i)
	}
	pg, _ := servers(t, 3)
	fleettest.Canaries(t, slices.Concat(files(t, keys...), pg), quick())
}
