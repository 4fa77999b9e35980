package receive

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/webhooksig"
)

// tolerance is how far the time of a signature may be from now, in either direction.
const tolerance = 5 * time.Minute

// standard verifies Standard Webhooks.
type standard struct {
	keys []webhooksig.Key
	err  error
	now  func() time.Time
}

// StandardWebhooks verifies requests that are signed as Standard Webhooks says, by any of the
// secrets: whsec_ that both sides know, or whpk_, the public half of the sender's key. The id is
// the header webhook-id, which is signed; the type is the field type of a body that is JSON. A
// request whose time is more than 5 minutes from now is refused.
func StandardWebhooks(secrets ...string) Verifier {
	v := &standard{now: time.Now}
	for i, secret := range secrets {
		key, err := webhooksig.ParseVerifying(secret)
		if err != nil && v.err == nil {
			v.err = engine.Invalid("secrets", "number %d: %v", i+1, err)
		}
		v.keys = append(v.keys, key)
	}
	if len(secrets) == 0 {
		v.err = engine.Invalid("secrets", "none")
	}
	return v
}

func (v *standard) validate() error { return v.err }

// Verify checks the signatures and the time.
func (v *standard) Verify(h http.Header, body []byte) (Event, error) {
	if v.err != nil {
		return Event{}, v.err
	}
	id, err := webhooksig.Verify(v.keys, h, body, v.now(), tolerance)
	if err != nil {
		return Event{}, err
	}
	return Event{ID: id, Type: described(body).Type}, nil
}

// shared verifies by texts that both sides know.
type shared struct {
	secrets [][]byte
	verify  func(v *shared, h http.Header, body []byte) (Event, error)
	now     func() time.Time
}

func newShared(secrets []string, verify func(v *shared, h http.Header, body []byte) (Event, error)) *shared {
	v := &shared{verify: verify, now: time.Now}
	for _, secret := range secrets {
		v.secrets = append(v.secrets, []byte(secret))
	}
	return v
}

func (v *shared) validate() error {
	if len(v.secrets) == 0 {
		return engine.Invalid("secrets", "none")
	}
	for i, secret := range v.secrets {
		if len(secret) == 0 {
			return engine.Invalid("secrets", "number %d: empty", i+1)
		}
	}
	return nil
}

// Verify checks a request.
func (v *shared) Verify(h http.Header, body []byte) (Event, error) {
	if err := v.validate(); err != nil {
		return Event{}, err
	}
	return v.verify(v, h, body)
}

// signed reports whether one of the signatures is that of a text by one of the secrets. All are
// compared, each in constant time.
func (v *shared) signed(signatures [][]byte, text []byte) bool {
	matches := false
	for _, secret := range v.secrets {
		want := webhooksig.MAC(secret, text)
		for _, s := range signatures {
			matches = hmac.Equal(s, want) || matches
		}
	}
	return matches
}

// GitHub verifies webhooks of GitHub by any of the secrets (X-Hub-Signature-256). The type is
// X-GitHub-Event.
//
// The id is "sha256:" and the SHA-256 of the body. GitHub signs the body alone: whoever has seen
// one request could send it again under another X-GitHub-Delivery, and it would be another
// message. So bodies that are the same to the byte are one message, as long as the inbox
// remembers it. The type is not signed either: what a handler relies on is in the body. Store the
// delivery's id with Options.Headers, if people ask for it.
func GitHub(secrets ...string) Verifier { return newShared(secrets, github) }

func github(v *shared, h http.Header, body []byte) (Event, error) {
	encoded, ok := strings.CutPrefix(h.Get("X-Hub-Signature-256"), "sha256=")
	signature, err := hex.DecodeString(encoded)
	if !ok || err != nil {
		return Event{}, webhooksig.ErrNoSignature
	}
	if !v.signed([][]byte{signature}, body) {
		return Event{}, webhooksig.ErrMismatch
	}
	sum := sha256.Sum256(body)
	return Event{ID: "sha256:" + hex.EncodeToString(sum[:]), Type: h.Get("X-GitHub-Event")}, nil
}

// Stripe verifies webhooks of Stripe by any of the endpoint's secrets, "whsec_…" as Stripe shows
// it (Stripe-Signature). The id and the type are the fields id and type of the body. A request
// whose time is more than 5 minutes from now is refused.
func Stripe(secrets ...string) Verifier { return newShared(secrets, stripe) }

func stripe(v *shared, h http.Header, body []byte) (Event, error) {
	timestamp, signatures := parseStripe(h.Get("Stripe-Signature"))
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || len(signatures) == 0 {
		return Event{}, webhooksig.ErrNoSignature
	}
	if !v.signed(signatures, append([]byte(timestamp+"."), body...)) {
		return Event{}, webhooksig.ErrMismatch
	}
	if err := webhooksig.CheckTime(seconds, v.now(), tolerance); err != nil {
		return Event{}, err
	}
	d := described(body)
	return Event{ID: d.ID, Type: d.Type}, nil
}

// parseStripe reads "t=…,v1=…,v1=…". What has another name is of schemes to come, or of tests.
func parseStripe(header string) (timestamp string, signatures [][]byte) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			if s, err := hex.DecodeString(value); err == nil && len(signatures) < webhooksig.MaxSignatures {
				signatures = append(signatures, s)
			}
		}
	}
	return timestamp, signatures
}

// described returns what a JSON body says of itself; nothing if it is none.
func described(body []byte) (d struct{ ID, Type string }) {
	if json.Unmarshal(body, &d) != nil {
		d.ID, d.Type = "", ""
	}
	return d
}
