package docblocks_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/docblocks"
)

const (
	root     = "../../.."
	preludes = "testdata/prelude"
)

func read(t *testing.T) []*docblocks.Block {
	t.Helper()
	blocks, err := docblocks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// D-238: each Go block of the documentation compiles against the packages as they are.
func TestGoBlocks(t *testing.T) {
	t.Parallel()
	n, failures := docblocks.Go(root, docblocks.Workspace, preludes, read(t))
	for _, err := range failures {
		t.Error(err)
	}
	t.Logf("%d blocks", n)
}
