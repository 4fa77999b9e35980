package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// D-701: any bytes are an envelope of one reading or none: what is parsed is written as the same bytes, and
// what people are shown of it is one short line of ASCII.
func FuzzEnvelope(f *testing.F) {
	salt, box := bytes.Repeat([]byte{3}, saltBytes), bytes.Repeat([]byte{4}, tagBytes)
	f.Add(slices.Concat(head("2026", "order.created", [16]byte{}), salt, box))
	f.Add(slices.Concat(head(strings.Repeat("k", maxKeyID), strings.Repeat("ü", 255), [16]byte{1}), salt, box, box))
	f.Add(slices.Concat(head("\x1b[2J", "t", [16]byte{1}), salt, box))
	f.Add(slices.Concat(head("k", strings.Repeat("t", maxTopic+1), [16]byte{1}), salt, box))
	f.Add((&reference{key: [16]byte{1}, size: 1 << 63}).append(nil))
	f.Add(append((&reference{}).append(nil), 0))
	f.Add([]byte(magic + "S\x02"))
	f.Add([]byte(magic + "O"))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		l, isSealed, err := parseSealed(payload)
		readable := isSealed && err == nil
		if readable && !bytes.Equal(slices.Concat(head(l.keyID, l.topic, l.id), l.salt, l.box), payload) {
			t.Errorf("%+v is another envelope", l)
		}
		r, isReference, err := parseReference(payload)
		if isReference && err == nil && !bytes.Equal(r.append(nil), payload) {
			t.Errorf("%+v is another reference", r)
		}
		readable = readable || isReference && err == nil
		if isSealed && isReference || (isSealed || isReference) && (utf8.Valid(payload) || json.Valid(payload)) {
			t.Error("an envelope that may be something else")
		}
		text, ok := Describe(payload)
		if ok != readable || len(text) > 128 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%v, %q", ok, text)
		}
	})
}

// D-701: envelopes that are cut off, or of another version, are errors, and no payloads of another codec.
func TestEnvelopeRefuses(t *testing.T) {
	whole := slices.Concat(head("k", "topic", [16]byte{1}), make([]byte, saltBytes+tagBytes))
	for i := range whole {
		if _, ok, err := parseSealed(whole[:i]); ok != (i > len(magic)) || ok && err == nil {
			t.Errorf("%d bytes: %v, %v", i, ok, err)
		}
	}
	ref := (&reference{}).append(nil)
	for i := range ref {
		if _, ok, err := parseReference(ref[:i]); ok != (i > len(magic)) || ok && err == nil {
			t.Errorf("%d bytes: %v, %v", i, ok, err)
		}
	}
	ref[len(magic)+1] = 2
	if _, ok, err := parseReference(ref); !ok || err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Error(ok, err)
	}
}
