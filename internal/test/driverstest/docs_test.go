package driverstest_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/docblocks"

	_ "github.com/bravellian/pawl/ui" // the blocks' prelude imports it
)

// D-238: the Go blocks of the pages that are about these libraries compile against them.
func TestGoBlocks(t *testing.T) {
	const root = "../../.."
	blocks, err := docblocks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	n, failures := docblocks.Go(root, "internal/test/driverstest", root+"/internal/test/docblocks/testdata/prelude", blocks)
	for _, err := range failures {
		t.Error(err)
	}
	if n == 0 {
		t.Error("no page names this module")
	}
}
