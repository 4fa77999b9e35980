package worker

// Remaining is remaining, for tests.
var Remaining = remaining
