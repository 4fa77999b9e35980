module github.com/bravellian/pawl/tools

go 1.26.0

require github.com/bravellian/pawl v0.0.0
