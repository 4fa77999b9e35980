package ui

import "context"

// stores lists the stores of a fleet.
func stores(v *visit) (*screen, error) {
	if v.s.source.fleet == nil {
		return &screen{Title: "Stores", Blocks: []block{{Note: "This is one database."}}}, nil
	}
	h := v.s.source.fleet.Health()
	t := &table{Head: []string{"State", "Store", "Where", "Last answer", "Next poll", "Failures", "Error"}, None: "The fleet has no stores."}
	for i := range h.Stores {
		s := &h.Stores[i]
		t.Rows = append(t.Rows, []cell{
			state(string(s.State)), link(s.Key, v.hrefIn(s.Key, "")), words(s.Where), at(s.LastSuccess), at(s.NextPoll), count(int64(s.Failures)), words(firstLine(s.Error)),
		})
	}
	sc := &screen{Title: "Stores", Blocks: []block{{Note: h.Summary}, {Table: t}}}
	sc.Blocks = append(sc.Blocks, v.each(func(ctx context.Context, s *store) ([]block, error) {
		return nil, s.DB().CheckSchema(ctx)
	})...)
	return sc, nil
}
