package receive

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/webhooksig"
)

// No header makes more signatures to be checked than a sender can have keys.
func FuzzStripeHeader(f *testing.F) {
	f.Add("t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v0=6ffbb59b")
	f.Add("t=,v1=,v1")
	f.Add(strings.Repeat("v1=00,", 2*webhooksig.MaxSignatures))
	f.Fuzz(func(t *testing.T, header string) {
		timestamp, signatures := parseStripe(header)
		if len(signatures) > webhooksig.MaxSignatures || !strings.Contains(header, timestamp) {
			t.Errorf("%d signatures, time %q", len(signatures), timestamp)
		}
		v := newShared([]string{"secret"}, stripe)
		if v.signed(signatures, []byte("nobody signed this")) {
			t.Errorf("%q is right", header)
		}
	})
}
