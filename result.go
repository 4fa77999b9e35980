package pawl

import (
	"context"
	"fmt"
	"iter"

	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// Result is a member of a join, and how it ended, as [Results] returns it.
type Result[R any] struct {
	join.Member
	Value R // what [SetResult] set; the zero value if nothing
}

// resultTopic stands for the topic of a result: that of its message may change.
const resultTopic = "join.result"

// SetResult sets the result of a handler's message for the follow-ups of its joins, which read it with [Results];
// see outbox.Message.SetResult for limits and when it is stored. One codec may be given, the same to both. Default:
// JSON, or the bytes of a []byte. [Sealed] binds it to the message.
func SetResult[R any](ctx context.Context, m *outbox.Message, value R, c ...Codec) error {
	own, err := engine.Option(c)
	if err != nil {
		return err
	}
	data, err := codec.Encode(ctx, own, codec.Target{Topic: resultTopic, ID: m.ID, Default: plain[R]()}, value)
	if err != nil {
		return err
	}
	return m.SetResult(data)
}

// Results returns all members of the join that a message follows, failed ones, too, with what they set by
// [SetResult]: by message id, read while they are iterated over. An error is the last item: join.ErrNotFound if the
// message follows no join, or the join was cleaned up.
//
//	for step, err := range pawl.Results[Summary](ctx, p, d.Message) {
func Results[R any](ctx context.Context, p *Pawl, m *outbox.Message, c ...Codec) iter.Seq2[Result[R], error] {
	return func(yield func(Result[R], error) bool) {
		own, err := engine.Option(c)
		var from []join.Info
		if err == nil {
			from, err = p.Joins.From(ctx, m)
		}
		if err == nil && len(from) == 0 {
			err = fmt.Errorf("%w: message %s follows none", join.ErrNotFound, m.ID)
		}
		if err != nil {
			yield(Result[R]{}, err)
			return
		}
		for member, err := range p.Joins.Members(ctx, from[0].ID, join.MembersOptions{}) {
			r := Result[R]{Member: member}
			if err == nil && member.Result != nil {
				of := codec.Target{Topic: resultTopic, ID: member.MessageID, Default: plain[R]()}
				if err = codec.Decode(ctx, own, of, member.Result, &r.Value); err != nil {
					err = fmt.Errorf("result of message %s: %w", member.MessageID, err)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
