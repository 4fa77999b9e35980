package outbox

import (
	"encoding/json"
	"maps"
	"testing"
	"time"
	"unicode/utf8"
)

// D-10: an id carries its position and its maker's tag, and ids of later
// milliseconds sort after earlier ones.
func FuzzMessageIDPosition(f *testing.F) {
	f.Add(int64(0), uint32(0), int64(1))
	f.Add(int64(1_700_000_000_000), uint32(1<<tagBits-1), int64(1<<positionBits-1))
	f.Add(int64(1<<47), uint32(0x1234567), int64(4096))
	f.Fuzz(func(t *testing.T, ms int64, tag uint32, position int64) {
		ms, tag, position = ms&(1<<47-1), tag&(1<<tagBits-1), position&(1<<positionBits-1)
		id := makeMessageID(time.UnixMilli(ms), tag, position)
		gotPosition, gotTag, ok := id.position()
		if !ok || gotPosition != position || gotTag != tag {
			t.Fatalf("%v carries %d and %x, %v, want %d and %x", id, gotPosition, gotTag, ok, position, tag)
		}
		if v := id[6] >> 4; v != 8 || id[8]>>6 != 2 {
			t.Fatalf("%v is of version %d", id, v)
		}
		if later := makeMessageID(time.UnixMilli(ms+1), 0, 0); later.String() <= id.String() {
			t.Fatalf("%v, a millisecond later, sorts before %v", later, id)
		}
	})
}

// D-10: any 16 bytes have a position that fits, or none; those that have one
// are what would be made from it.
func FuzzPositionOfAnyID(f *testing.F) {
	f.Add([]byte("0123456789abcdef"))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0x8f, 0xff, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var id MessageID
		copy(id[:], b)
		position, tag, ok := id.position()
		if !ok {
			if position != 0 || tag != 0 {
				t.Fatalf("%v: %d, %x without ok", id, position, tag)
			}
			return
		}
		if position < 0 || position >= 1<<positionBits || tag >= 1<<tagBits {
			t.Fatalf("%v: position %d, tag %x", id, position, tag)
		}
		var ms int64
		for _, x := range id[:6] {
			ms = ms<<8 | int64(x)
		}
		if again := makeMessageID(time.UnixMilli(ms), tag, position); again != id {
			t.Fatalf("%v is made again as %v", id, again)
		}
	})
}

// D-2: headers that other programs wrote never fail; those that are a map of
// texts come back as such, and what we write is read back the same.
func FuzzDecodeHeaders(f *testing.F) {
	for _, s := range []string{"", "{}", "null", `"x"`, "[1]", "7", `{"a":"b"}`, `{"a":1,"b":null,"c":[{}],"d":{"e":1e999}}`, `{"a":`, "\xff", `{"":"","\u0000":"\ud800"}`, `{"a":"1","a":"2"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := decodeHeaders(&s)
		var plain map[string]string
		if json.Unmarshal([]byte(s), &plain) == nil && !maps.Equal(got, plain) {
			t.Fatalf("%q became %v, want %v", s, got, plain)
		}
		for k, v := range got {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return // text that no engine would have kept
			}
		}
		text, err := encodeHeaders(got)
		if err != nil {
			t.Fatal(err)
		}
		if again := decodeHeaders(text); !maps.Equal(again, got) {
			t.Fatalf("%v was written as %q and read as %v", got, *text, again)
		}
	})
}

// D-2: no headers are none.
func TestNoHeaders(t *testing.T) {
	if decodeHeaders(nil) != nil {
		t.Error("headers out of nothing")
	}
	if text, err := encodeHeaders(map[string]string{}); text != nil || err != nil {
		t.Errorf("no headers were written as %v, %v", text, err)
	}
}
