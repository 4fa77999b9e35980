package webhooksig

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The vector that the implementations of the specification share.
const (
	vectorSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorBody   = `{"test": 2432232314}`
	vectorSign   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func vectorTime() time.Time { return time.Unix(1614265330, 0) }

// known is a key that can be read.
func known(k Key, err error) Key {
	if err != nil {
		panic(err)
	}
	return k
}

// pair returns an Ed25519 key as the sender and the receiver have it.
func pair(t testing.TB, fill byte) (private, public string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{fill}, ed25519.SeedSize))
	return prefixPrivate + base64.StdEncoding.EncodeToString(key.Seed()), prefixPublic + base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:])
}

func header(id string, at time.Time, signature string) http.Header {
	h := http.Header{}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(HeaderSignature, signature)
	return h
}

// D-222
func TestSignVector(t *testing.T) {
	key := known(ParseSigning(vectorSecret))
	got := Sign([]Key{key}, vectorID, vectorTime(), []byte(vectorBody))
	if got != vectorSign {
		t.Errorf("signature %q, want %q", got, vectorSign)
	}
}

// D-222: a signature for each key, in their order, so that receivers can change keys one
// after the other.
func TestSignWithSeveralKeys(t *testing.T) {
	private, public := pair(t, 7)
	both := prefixPrivate + base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	keys := []Key{known(ParseSigning(vectorSecret)), known(ParseSigning(private)), known(ParseSigning(both))}
	got := strings.Fields(Sign(keys, vectorID, vectorTime(), []byte(vectorBody)))
	if len(got) != 3 || got[0] != vectorSign || !strings.HasPrefix(got[1], "v1a,") || got[1] != got[2] {
		t.Fatalf("%q", got)
	}
	for _, secret := range []string{vectorSecret, public} {
		verifying := []Key{known(ParseVerifying(secret))}
		if id, err := Verify(verifying, header(vectorID, vectorTime(), strings.Join(got, " ")), []byte(vectorBody), vectorTime(), time.Minute); err != nil || id != vectorID {
			t.Errorf("%.5s: %q, %v", secret, id, err)
		}
	}
}

// D-228: what differs in anything that is signed does not verify.
func TestVerifyRefuses(t *testing.T) {
	_, public := pair(t, 7)
	otherPrivate, _ := pair(t, 8)
	keys := []Key{known(ParseVerifying(vectorSecret)), known(ParseVerifying(public))}
	right := func() http.Header { return header(vectorID, vectorTime(), vectorSign) }
	change := func(f func(h http.Header)) http.Header {
		h := right()
		f(h)
		return h
	}
	foreign := Sign([]Key{known(ParseSigning(otherPrivate))}, vectorID, vectorTime(), []byte(vectorBody))
	for name, tt := range map[string]struct {
		h    http.Header
		body string
		now  time.Time
		want error
	}{
		"another id":            {change(func(h http.Header) { h.Set(HeaderID, "msg_other") }), vectorBody, vectorTime(), ErrMismatch},
		"another time":          {change(func(h http.Header) { h.Set(HeaderTimestamp, "1614265331") }), vectorBody, vectorTime(), ErrMismatch},
		"another body":          {right(), vectorBody + " ", vectorTime(), ErrMismatch},
		"another version":       {change(func(h http.Header) { h.Set(HeaderSignature, "v1a"+vectorSign[2:]) }), vectorBody, vectorTime(), ErrMismatch},
		"another key":           {change(func(h http.Header) { h.Set(HeaderSignature, foreign) }), vectorBody, vectorTime(), ErrMismatch},
		"a part of it":          {change(func(h http.Header) { h.Set(HeaderSignature, "v1,g0hM") }), vectorBody, vectorTime(), ErrMismatch},
		"a version to come":     {change(func(h http.Header) { h.Set(HeaderSignature, "v2,g0hM") }), vectorBody, vectorTime(), ErrNoSignature},
		"no signature":          {change(func(h http.Header) { h.Del(HeaderSignature) }), vectorBody, vectorTime(), ErrNoSignature},
		"an empty signature":    {change(func(h http.Header) { h.Set(HeaderSignature, "v1,") }), vectorBody, vectorTime(), ErrMismatch},
		"no id":                 {change(func(h http.Header) { h.Del(HeaderID) }), vectorBody, vectorTime(), ErrNoSignature},
		"no time":               {change(func(h http.Header) { h.Set(HeaderTimestamp, "now") }), vectorBody, vectorTime(), ErrNoSignature},
		"too old":               {right(), vectorBody, vectorTime().Add(5*time.Minute + time.Second), ErrTimestamp},
		"too far in the future": {right(), vectorBody, vectorTime().Add(-5*time.Minute - time.Second), ErrTimestamp},
	} {
		if _, err := Verify(keys, tt.h, []byte(tt.body), tt.now, 5*time.Minute); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	for _, off := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		if _, err := Verify(keys, right(), []byte(vectorBody), vectorTime().Add(off), 5*time.Minute); err != nil {
			t.Errorf("%v off: %v", off, err)
		}
	}
	if _, err := Verify([]Key{{}}, right(), []byte(vectorBody), vectorTime(), time.Minute); !errors.Is(err, ErrMismatch) {
		t.Errorf("a key that is none: %v", err)
	}
}

// D-305: what is signed has one reading. Whoever has a request with a body that begins with a number cannot send it
// again as another id at another time, nor can one whose id has a number behind a dot be told from that.
func TestSignedTextHasOneReading(t *testing.T) {
	key := known(ParseSigning(vectorSecret))
	now := vectorTime().Add(time.Hour)
	body := strconv.FormatInt(now.Unix(), 10) + ".5"
	signature := Sign([]Key{key}, vectorID, vectorTime(), []byte(body))
	forged := header(vectorID+"."+strconv.FormatInt(vectorTime().Unix(), 10), now, signature)
	if id, err := Verify([]Key{key}, forged, []byte("5"), now, time.Minute); err == nil {
		t.Errorf("the body's number is taken for a time: %q", id)
	}
	for id, ok := range map[string]bool{"evt.a.b": true, "a.": true, "1.a": true, "evt.17": false, "evt.1614265330.x": false, ".0": false} {
		h := header(id, vectorTime(), Sign([]Key{key}, id, vectorTime(), []byte(vectorBody)))
		if _, err := Verify([]Key{key}, h, []byte(vectorBody), vectorTime(), time.Minute); (err == nil) != ok {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, timestamp := range []string{"+1614265330", "-1", "01614265330", " 1614265330", "1614265330 ", "1_614_265_330", "99999999999999999999", "1614265330.0"} {
		h := header(vectorID, vectorTime(), "")
		h.Set(HeaderTimestamp, timestamp)
		h.Set(HeaderSignature, "v1,"+base64.StdEncoding.EncodeToString(MAC(key.secret, content(vectorID, timestamp, []byte(vectorBody)))))
		if _, err := Verify([]Key{key}, h, []byte(vectorBody), vectorTime(), time.Minute); err == nil {
			t.Errorf("time %q is taken", timestamp)
		}
	}
}

// D-305: a signature that is cut, or longer, is none, wherever it is cut; many do not make one of them right; and one
// behind more than a sender can have is not read.
func TestCutAndManySignatures(t *testing.T) {
	key := known(ParseSigning(vectorSecret))
	private, public := pair(t, 7)
	other := Sign([]Key{known(ParseSigning(private))}, vectorID, vectorTime(), []byte(vectorBody))
	for _, tt := range []struct {
		key Key
		all string
	}{{key, vectorSign}, {known(ParseVerifying(public)), other}} {
		version, encoded, _ := strings.Cut(tt.all, ",")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		try := func(signature string) error {
			_, err := Verify([]Key{tt.key}, header(vectorID, vectorTime(), signature), []byte(vectorBody), vectorTime(), time.Minute)
			return err
		}
		for n := range raw {
			if try(version+","+base64.StdEncoding.EncodeToString(raw[:n])) == nil {
				t.Errorf("%s: %d bytes are taken", version, n)
			}
		}
		if try(version+","+base64.StdEncoding.EncodeToString(append(raw, 0))) == nil {
			t.Errorf("%s: a longer one is taken", version)
		}
		wrong := strings.Repeat(version+","+base64.StdEncoding.EncodeToString(make([]byte, len(raw)))+" ", MaxSignatures)
		if try(wrong) == nil || try(strings.TrimSuffix(wrong[:len(wrong)/MaxSignatures], " ")+" "+tt.all) != nil || try(wrong+tt.all) == nil {
			t.Errorf("%s: many signatures", version)
		}
	}
}

// D-227: what a key is refused for holds no part of it.
// D-715: an empty one, as from a variable that is not set, is called empty.
func TestParseRefuses(t *testing.T) {
	private, public := pair(t, 7)
	half := prefixPrivate + base64.StdEncoding.EncodeToString(make([]byte, ed25519.PrivateKeySize)) // its halves do not fit
	short := prefixSecret + base64.StdEncoding.EncodeToString(make([]byte, minSecret-1))
	long := prefixSecret + base64.StdEncoding.EncodeToString(make([]byte, maxSecret+1))
	for parse, secrets := range map[string][]string{
		"signing":   {"", "canary", "whsec_canary!", short, long, half, public, "whsk_canary"},
		"verifying": {"", "canary", "whsec_canary!", short, long, private, "whpk_canary"},
	} {
		for _, secret := range secrets {
			_, err := ParseSigning(secret)
			if parse == "verifying" {
				_, err = ParseVerifying(secret)
			}
			if err == nil || strings.Contains(err.Error(), "canary") || secret == "" && !strings.Contains(err.Error(), "empty") {
				t.Errorf("%s %q: %v", parse, secret, err)
			}
		}
	}
}

// No header makes more signatures to be checked than a sender can have keys, and whatever is
// parsed was there.
func FuzzSignatures(f *testing.F) {
	f.Add(vectorSign)
	f.Add("v1,x v1a,eA== v2,eA==  v1,")
	f.Add(strings.Repeat("v1,eA== ", 2*MaxSignatures))
	f.Fuzz(func(t *testing.T, text string) {
		all := parseSignatures(text)
		if len(all) > MaxSignatures {
			t.Fatalf("%d signatures", len(all))
		}
		key := known(ParseVerifying(vectorSecret))
		for _, s := range all {
			if !strings.Contains(text, s.version+",") {
				t.Errorf("version %q", s.version)
			}
			if key.verify(s, []byte("nobody signed this")) {
				t.Errorf("%q is right", text)
			}
		}
	})
}
