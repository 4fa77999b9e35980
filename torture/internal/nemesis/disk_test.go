package nemesis

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// room is a file on a disk with so much left: a write that does not fit fails as a whole.
type room int

func (r *room) Write(b []byte) (int, error) {
	if len(b) > int(*r) {
		return 0, syscall.ENOSPC
	}
	*r -= room(len(b))
	return len(b), nil
}

// D-320: what is left of a full disk is less than a page of any file, and the ballast is gone when
// the fault is over.
func TestBallast(t *testing.T) {
	t.Parallel()
	left := room(5<<20 + 12345)
	if fill(t.Context(), &left); left >= 512 {
		t.Errorf("%d bytes are left", left)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const much = 5 << 20
	left = much
	if fill(ended, &left); left != much {
		t.Errorf("%d bytes are left by a fault that is over", left)
	}
	folder, times := t.TempDir(), 0
	err := withBallast(ended, folder, time.Hour, func() {
		times++
		if _, err := os.Stat(filepath.Join(folder, "ballast")); err != nil {
			t.Error(err)
		}
	})
	if all, _ := os.ReadDir(folder); err != nil || times != 1 || len(all) > 0 {
		t.Errorf("%d times: %v; there are %v", times, err, all)
	}
}
