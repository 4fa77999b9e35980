package view

import (
	"unicode/utf8"

	"github.com/bravellian/pawl/join"
)

// Join is a join as JSON.
type Join struct {
	join.Info
	MetadataBytes int       `json:"metadata_bytes"`
	Members       *[]Member `json:"members,omitempty"`
	NotShown      *int      `json:"members_not_shown,omitempty"`
}

// OfJoin is a join as JSON, without its metadata and members.
func OfJoin(j *join.Info) Join {
	v := Join{Info: *j, MetadataBytes: len(j.Metadata)}
	v.Metadata = ""
	return v
}

// OfJoinWithMembers is a join as JSON, with its metadata, members of it, and how many
// others there are.
func OfJoinWithMembers(j *join.Info, members []join.Member, notShown int) Join {
	v := OfJoin(j)
	v.Metadata = j.Metadata
	list := make([]Member, len(members))
	for i := range members {
		list[i] = OfMember(j, &members[i])
	}
	v.Members, v.NotShown = &list, &notShown
	return v
}

// Member is a member of a join as JSON.
type Member struct {
	join.Member
	ResultBytes int     `json:"result_bytes,omitempty"`
	Result      *string `json:"result,omitempty"` // if it is text; result_base64 otherwise
}

// OfMember is a member of a join as JSON.
func OfMember(j *join.Info, m *join.Member) Member {
	v := Member{Member: *m, ResultBytes: len(m.Result)}
	v.Status = MemberState(j, m)
	if text := string(m.Result); m.Result != nil && utf8.ValidString(text) {
		v.Result, v.Member.Result = &text, nil
	}
	return v
}

// MemberState is a member's state in words: what is still pending when its join is over
// is not counted.
func MemberState(j *join.Info, m *join.Member) join.Status {
	if m.Status == join.Pending && j.Status != join.Pending {
		return "not counted"
	}
	return m.Status
}
