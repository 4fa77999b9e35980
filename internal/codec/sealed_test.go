package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/bravellian/pawl/internal/codec"
)

// D-701: what this version sealed is opened by later ones: the envelope of docs/payloads.md.
func TestSealedFormat(t *testing.T) {
	const was = "ff7061776c53" + "01" + "0131" + "000174" + "0102000000000000000000000000000000" + "ab6c2e6753b9c8a02d08e99a7ebe9b3852c721fdfd5d1814" + "0466a98799543879e4915ffa32abe35f395a0cb1"
	s := codec.Sealed{Codec: codec.Bytes{}, Keys: &codec.Keys{}}
	if err := s.Keys.Set("1", map[string][]byte{"1": bytes.Repeat([]byte("k"), 32)}); err != nil {
		t.Fatal(err)
	}
	to := codec.Target{Topic: "t", ID: [16]byte{2}, Template: true}
	sealed, err := s.EncodeFor(t.Context(), to, []byte("body"))
	if err != nil || hex.EncodeToString(sealed) != was {
		t.Errorf("%x, %v", sealed, err)
	}
	var body []byte
	if err := s.DecodeFor(t.Context(), to, sealed, &body); err != nil || string(body) != "body" {
		t.Errorf("%q, %v", body, err)
	}
}

// D-701: a codec that a program wraps is told of no topic: what it sealed opens there, and in no topic.
func TestSealedWithoutTopic(t *testing.T) {
	s := codec.Sealed{Keys: &codec.Keys{}}
	if err := s.Keys.Set("1", map[string][]byte{"1": bytes.Repeat([]byte("k"), 32)}); err != nil {
		t.Fatal(err)
	}
	payload, err := s.Encode("body")
	var body string
	if err := errors.Join(err, s.Decode(payload, &body)); err != nil || body != "body" {
		t.Errorf("%q, %v", body, err)
	}
	if err := s.DecodeFor(t.Context(), codec.Target{Topic: "t", Names: []string{"*"}}, payload, &body); !errors.Is(err, codec.ErrNotAuthentic) {
		t.Error(err)
	}
	if err := s.DecodeFor(t.Context(), codec.Target{Topic: "t"}, []byte(`"body"`), &body); !errors.Is(err, codec.ErrNotAuthentic) {
		t.Error(err)
	}
}
