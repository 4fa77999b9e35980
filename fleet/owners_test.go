package fleet

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

func membersNamed(n int) []fleetstate.Member {
	all := make([]fleetstate.Member, n)
	for i := range all {
		all[i] = fleetstate.Member{ID: fmt.Sprint(i + 1)}
	}
	return all
}

// ownersOf returns the members that work on a store.
func ownersOf(all []fleetstate.Member, key string, copies int) (ids []string) {
	for _, m := range all {
		if owns(all, m.ID, key, copies) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// D-249: every store has as many owners as it may have, and no member has twice its share.
func TestSharesAreExactAndEven(t *testing.T) {
	t.Parallel()
	const stores = 200
	for _, c := range []struct{ members, copies int }{{1, 1}, {2, 1}, {3, 1}, {3, 2}, {5, 1}, {7, 2}, {10, 1}, {20, 3}, {2, 3}} {
		all, has := membersNamed(c.members), map[string]int{}
		for i := range stores {
			got := ownersOf(all, fmt.Sprintf("tenant-%d", i), c.copies)
			if want := min(c.members, c.copies); len(got) != want {
				t.Fatalf("%+v: store %d has the owners %q", c, i, got)
			}
			for _, id := range got {
				has[id]++
			}
		}
		even := stores * min(c.members, c.copies) / c.members
		for _, m := range all {
			if n := has[m.ID]; n > 2*even || n < even/4 {
				t.Errorf("%+v: member %s has %d stores; %d would be even", c, m.ID, n, even)
			}
		}
	}
}

// D-249: who comes takes stores, and who goes leaves some: no store moves between others.
func TestOnlyStoresOfAChangedMemberMove(t *testing.T) {
	t.Parallel()
	moved := 0
	for i := range 200 {
		key := fmt.Sprintf("tenant-%d", i)
		before, after := ownersOf(membersNamed(4), key, 2), ownersOf(membersNamed(5), key, 2)
		gained := 0
		for _, id := range after {
			if id != before[0] && id != before[1] {
				gained++
				moved++
				if id != "5" {
					t.Errorf("%s moved from %q to %q", key, before, after)
				}
			}
		}
		if gained > 1 {
			t.Errorf("%s moved from %q to %q", key, before, after)
		}
	}
	if moved == 0 || moved > 160 {
		t.Errorf("%d of 200 stores moved; 80 would be even", moved)
	}
}

// D-249: the weights are the same in all releases.
func TestWeightsAreFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		member, key string
		want        uint64
	}{{"1", "tenant-1", 0xd2477cd641f88ec4}, {"2", "tenant-1", 0x8bce8840ff80895a}, {"", "", 0xcfa3c5eb015b4663}} {
		if got := weight(c.member, c.key); got != c.want {
			t.Errorf("%q, %q: %#x, want %#x", c.member, c.key, got, c.want)
		}
	}
}

// D-252: those known stay while the list cannot be read, and for as long afterwards as they need
// to come back.
func TestKnownMembersStayAfterAnOutage(t *testing.T) {
	t.Parallel()
	m := &leaseMembers{opts: membersOptions{Process: "me", Duration: 8 * time.Second, Poll: 2 * time.Second}}
	now := time.Now()
	at := func(after time.Duration, list []fleetstate.Member) string {
		ids := ""
		for _, o := range m.settle(now.Add(after), list) {
			ids += o.ID + " "
		}
		return ids
	}
	for _, c := range []struct {
		after time.Duration
		list  []fleetstate.Member
		want  string
	}{
		{0, membersNamed(3), "1 2 3 me "},
		{time.Second, membersNamed(2), "1 2 me "}, // one died
		{2 * time.Second, nil, ""},
		{time.Hour, nil, ""},
		{time.Hour + time.Second, membersNamed(1), "1 2 me "}, // 2 is not back yet
		{time.Hour + 10*time.Second, []fleetstate.Member{}, "1 2 me "},
		{time.Hour + 12*time.Second, membersNamed(1), "1 me "}, // and does not come
	} {
		if got := at(c.after, c.list); got != c.want {
			t.Errorf("after %s: %q, want %q", c.after, got, c.want)
		}
	}
}

// D-252: a process works on what it would work on as a member, whatever the list is like.
func TestOwnView(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, c := range map[string]struct {
		reports []Membership
		want    string
	}{
		"nothing reported yet":            {nil, ""},
		"never in the list":               {[]Membership{{Self: "me", Err: away}}, "me"},
		"an error keeps those known":      {[]Membership{{Self: "1", Members: membersNamed(3)}, {Self: "1", Err: away}}, "1 2 3"},
		"a list that it cannot be in":     {[]Membership{{Self: "1", Members: membersNamed(3)}, {Self: "me", Members: membersNamed(2), Err: away}}, "1 2 me"},
		"itself, though not in the list":  {[]Membership{{Self: "9", Members: membersNamed(2)}}, "1 2 9"},
		"another name than before":        {[]Membership{{Self: "me", Err: away}, {Self: "3", Members: membersNamed(2)}}, "1 2 3"},
		"another name without a list":     {[]Membership{{Self: "me", Err: away}, {Self: "3", Err: away}}, "3"},
		"the same one twice in the list":  {[]Membership{{Self: "1", Members: append(membersNamed(2), membersNamed(2)...)}}, "1 2"},
		"the list is shorter than before": {[]Membership{{Self: "1", Members: membersNamed(3)}, {Self: "1", Members: membersNamed(2)}}, "1 2"},
	} {
		f := idleFleet(t, Options{Pawl: pawl.Options{Logger: slog.New(slog.DiscardHandler)}, Share: ShareOf(StaticMembers("unused"), 0)})
		for _, m := range c.reports {
			f.share.report(m)
		}
		got := ""
		for _, m := range f.share.list {
			if got != "" {
				got += " "
			}
			got += m.ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if f.share.ready() != (c.reports != nil) {
			t.Errorf("%s: ready: %v", name, f.share.ready())
		}
		f.share.mu.Lock()
		works := false
		for i := range 100 {
			works = works || f.share.ownsLocked(fmt.Sprint(i))
		}
		f.share.mu.Unlock()
		if works != (c.reports != nil) {
			t.Errorf("%s: it works on stores: %v", name, works)
		}
	}
}

// D-249: options that cannot be are named.
func TestShareOptions(t *testing.T) {
	t.Parallel()
	for field, o := range map[string]*Share{
		"Share.DB": {}, "Share.Copies": ShareOf(StaticMembers("a"), -1), "Share.Fleet": {Fleet: "a/b", members: StaticMembers("a")},
	} {
		if err := (&Options{Share: o}).validate(); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
