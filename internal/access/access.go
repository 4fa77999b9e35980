// Package access keeps functions that have to be exported between the packages of this
// module out of the reach of programs.
package access

// Key is the parameter of such functions. Programs cannot name its type, so they cannot
// call them.
type Key struct{}
