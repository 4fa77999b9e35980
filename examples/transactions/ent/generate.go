// Package ent is the client of ent for the tables of the example; all but this file and the schema is generated.
package ent

//go:generate go run entgo.io/ent/cmd/ent@v0.14.5 generate --feature sql/execquery ./schema
