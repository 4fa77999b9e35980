module github.com/bravellian/pawl/torture

go 1.26.0
