package ui_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

// D-218: the scripts that others wrote are as they released them: htmx.org 2.0.11, dist/htmx.min.js.
func TestScriptsAreAsReleased(t *testing.T) {
	for file, want := range map[string]string{
		"assets/htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the checksum %x", file, sum)
		}
	}
}
