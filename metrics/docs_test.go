package metrics

import (
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/bravellian/pawl/internal/test/docblocks"
)

// D-238: the YAML blocks of the documentation parse. They are checked here because the parser is.
func TestYAMLBlocks(t *testing.T) {
	blocks, err := docblocks.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range blocks {
		if b.Language != "yaml" {
			continue
		}
		n++
		var v any
		if err := yaml.UnmarshalStrict([]byte(b.Text), &v); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	if n == 0 {
		t.Error("no block is found")
	}
}
