package job_test

import (
	"errors"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-211: runs of jobs have an overlap, and no ordering key.
func TestOrderingKeyIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		jb := f.hourly()
		jb.Headers = map[string]string{"pawl-ordering-key": "k"}
		if err := f.Put(t.Context(), jb); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
}
