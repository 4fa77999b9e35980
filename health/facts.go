package health

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Fact is something that is known of what was diagnosed.
type Fact struct {
	Key   string
	Value any // a string, a number or a bool
}

// Facts are facts in an order for people. As JSON they are one object.
type Facts []Fact

// Get returns the value of a fact, nil if it is not known.
func (f Facts) Get(key string) any {
	for _, fact := range f {
		if fact.Key == key {
			return fact.Value
		}
	}
	return nil
}

// MarshalJSON returns the facts as one object, in their order.
func (f Facts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, fact := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(fact.Key) // strings always can
		value, err := json.Marshal(fact.Value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var errNoObject = errors.New("facts are a JSON object")

// UnmarshalJSON reads what MarshalJSON writes. Numbers become float64.
func (f *Facts) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	switch {
	case err != nil:
		return err
	case open == nil: // null
		*f = nil
		return nil
	case open != json.Delim('{'):
		return errNoObject
	}
	var all Facts
	for d.More() {
		key, err := d.Token() // a string, or the decoder fails
		if err != nil {
			return err
		}
		fact := Fact{Key: key.(string)}
		if err := d.Decode(&fact.Value); err != nil {
			return err
		}
		all = append(all, fact)
	}
	*f = all
	return nil
}
