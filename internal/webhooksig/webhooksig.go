// Package webhooksig signs and verifies webhooks as the specification Standard Webhooks
// says, for those that send them and those that receive them.
//
// What is signed is "id.timestamp.body". The header webhook-signature has a signature for
// each key, with blanks between: "v1,<HMAC-SHA256>" for a secret that both sides know
// (whsec_), "v1a,<Ed25519>" for a key of which the receiver has the public half (whsk_ and
// whpk_), all of them in base64.
package webhooksig

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed request.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// The prefixes of keys, and the versions of their signatures.
const (
	prefixSecret  = "whsec_"
	prefixPrivate = "whsk_"
	prefixPublic  = "whpk_"
	symmetric     = "v1"
	asymmetric    = "v1a"
)

// Bounds of a symmetric secret in bytes, by the specification.
const (
	minSecret = 24
	maxSecret = 64
)

// MaxSignatures is how many signatures of a header are checked. A sender has one for each of
// its keys; without a bound a header of a megabyte would be work for everybody to order.
const MaxSignatures = 32

// Errors of Verify. None of them holds a part of the request.
var (
	ErrNoSignature = errors.New("no signature, or headers that cannot be read")
	ErrTimestamp   = errors.New("the timestamp is too far from now")
	ErrMismatch    = errors.New("no signature matches")
)

// Key signs or verifies. The zero value does neither.
type Key struct {
	secret  []byte
	private ed25519.PrivateKey
	public  ed25519.PublicKey
}

// ParseSigning reads a key to sign with: whsec_ or whsk_. Errors hold no part of it.
func ParseSigning(text string) (Key, error) {
	if encoded, ok := strings.CutPrefix(text, prefixPrivate); ok {
		return parsePrivate(encoded)
	}
	if encoded, ok := strings.CutPrefix(text, prefixSecret); ok {
		return parseSecret(encoded)
	}
	return Key{}, errors.New("empty, or begins with neither whsec_ nor whsk_")
}

// ParseVerifying reads a key to verify with: whsec_ or whpk_. Errors hold no part of it.
func ParseVerifying(text string) (Key, error) {
	if encoded, ok := strings.CutPrefix(text, prefixPublic); ok {
		public, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return Key{}, errors.New("no base64 of 32 bytes after whpk_")
		}
		return Key{public: public}, nil
	}
	if encoded, ok := strings.CutPrefix(text, prefixSecret); ok {
		return parseSecret(encoded)
	}
	return Key{}, errors.New("empty, or begins with neither whsec_ nor whpk_")
}

func parseSecret(encoded string) (Key, error) {
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}, errors.New("no base64 of 24 to 64 bytes after whsec_")
	}
	return Key{secret: secret}, nil
}

// parsePrivate reads a seed, or a seed with the public key behind it.
func parsePrivate(encoded string) (Key, error) {
	bytes, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil && (len(bytes) == ed25519.SeedSize || len(bytes) == ed25519.PrivateKeySize) {
		private := ed25519.NewKeyFromSeed(bytes[:ed25519.SeedSize])
		if len(bytes) == ed25519.SeedSize || private.Equal(ed25519.PrivateKey(bytes)) {
			return Key{private: private}, nil
		}
	}
	return Key{}, errors.New("no base64 of an Ed25519 key (32 or 64 bytes) after whsk_")
}

// Sign returns the value of the header webhook-signature: a signature for each key.
func Sign(keys []Key, id string, at time.Time, body []byte) string {
	signed := content(id, strconv.FormatInt(at.Unix(), 10), body)
	signatures := make([]string, len(keys))
	for i := range keys {
		if keys[i].private != nil {
			signatures[i] = asymmetric + "," + base64.StdEncoding.EncodeToString(ed25519.Sign(keys[i].private, signed))
		} else {
			signatures[i] = symmetric + "," + base64.StdEncoding.EncodeToString(MAC(keys[i].secret, signed))
		}
	}
	return strings.Join(signatures, " ")
}

// Verify returns the id of a request if one of its signatures is right and its timestamp no
// further from now than tolerance, in either direction.
func Verify(keys []Key, h http.Header, body []byte, now time.Time, tolerance time.Duration) (id string, err error) {
	id, timestamp := h.Get(HeaderID), h.Get(HeaderTimestamp)
	signatures := parseSignatures(h.Get(HeaderSignature))
	seconds, err := parseTime(timestamp)
	if err != nil || id == "" || ambiguous(id) || len(signatures) == 0 {
		return "", ErrNoSignature
	}
	signed := content(id, timestamp, body)
	matches := false
	for i := range keys {
		for _, s := range signatures {
			matches = keys[i].verify(s, signed) || matches
		}
	}
	if !matches {
		return "", ErrMismatch
	}
	return id, CheckTime(seconds, now, tolerance)
}

// parseTime reads a timestamp as a sender writes it: digits alone.
func parseTime(text string) (int64, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (seconds < 0 || strconv.FormatInt(seconds, 10) != text) {
		return 0, strconv.ErrSyntax
	}
	return seconds, err
}

// ambiguous reports whether what stands behind a dot of an id could be a timestamp. Then "id.timestamp.body" is also
// what is signed of another id, time and body, and whoever has one request could send it as another.
func ambiguous(id string) bool {
	for i, part := range strings.Split(id, ".") {
		if i > 0 && part != "" && strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}

// CheckTime returns ErrTimestamp if a timestamp in seconds is further from now than tolerance.
func CheckTime(seconds int64, now time.Time, tolerance time.Duration) error {
	at := time.Unix(seconds, 0)
	if at.Before(now.Add(-tolerance)) || at.After(now.Add(tolerance)) {
		return ErrTimestamp
	}
	return nil
}

// MAC returns the HMAC-SHA256 of a text.
func MAC(secret, text []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write(text) // a hash takes everything
	return h.Sum(nil)
}

// content is what is signed: the timestamp as it is sent.
func content(id, timestamp string, body []byte) []byte {
	signed := make([]byte, 0, len(id)+len(timestamp)+len(body)+2)
	signed = append(append(signed, id...), '.')
	signed = append(append(signed, timestamp...), '.')
	return append(signed, body...)
}

// signature is one of a header.
type signature struct {
	version string
	bytes   []byte
}

// parseSignatures returns the signatures that are well formed. Others are of versions to come.
func parseSignatures(header string) (all []signature) {
	for text := range strings.FieldsSeq(header) {
		version, encoded, ok := strings.Cut(text, ",")
		if !ok || version != symmetric && version != asymmetric {
			continue
		}
		if bytes, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(all) < MaxSignatures {
			all = append(all, signature{version, bytes})
		}
	}
	return all
}

// verify reports whether a signature is the key's.
func (k *Key) verify(s signature, signed []byte) bool {
	switch {
	case k.public != nil:
		return s.version == asymmetric && len(s.bytes) == ed25519.SignatureSize && ed25519.Verify(k.public, signed, s.bytes)
	case k.secret != nil:
		return s.version == symmetric && hmac.Equal(s.bytes, MAC(k.secret, signed))
	}
	return false
}
