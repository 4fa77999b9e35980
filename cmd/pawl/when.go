package main

import (
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
)

// ahead is an option that is a time: as it is written, or how long from now.
type ahead struct{ at time.Time }

// UnmarshalText reads an option.
func (a *ahead) UnmarshalText(text []byte) (err error) {
	a.at, err = input.ParseWhen(string(text), time.Now(), 1)
	return err
}

// due returns the time; zero, which is now by the database's clock, if it has come.
func (a *ahead) due() time.Time {
	if !a.at.After(time.Now()) {
		return time.Time{}
	}
	return a.at
}

// ago is an option that is a time: as it is written, or how long ago it was.
type ago struct {
	at    time.Time
	age   time.Duration
	given bool
}

// UnmarshalText reads an option.
func (a *ago) UnmarshalText(text []byte) (err error) {
	now := time.Now()
	a.at, err = input.ParseWhen(string(text), now, -1)
	a.age, a.given = now.Sub(a.at), true
	return err
}
