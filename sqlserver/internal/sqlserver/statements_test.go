package sqlserver

import (
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// OBX-001: every operation has a statement, and a statement that no operation asks for is an
// error.
func TestStatements(t *testing.T) {
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range f.Unbound() {
		t.Errorf("%s.sql: no operation", name)
	}
}

// The uuids on the wire have their first three groups reversed.
func TestFromWire(t *testing.T) {
	id, err := fromWire([]byte{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15})
	if err != nil || id != [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} {
		t.Error(id, err)
	}
	if uuidText(id) != "00010203-0405-0607-0809-0a0b0c0d0e0f" {
		t.Error(uuidText(id))
	}
	if _, err := fromWire([]byte{1}); err == nil {
		t.Error("a short one was read")
	}
}
