# Everything here works on a fresh machine with Go and Debian's package manager:
# what is missing (PostgreSQL, a C compiler for the race detector) is installed
# where that is allowed, and asked for where it is not.

# Tests run beside a private PostgreSQL server, or the one that
# PAWL_TEST_POSTGRES names. Without fsync: the data dies with the server. It is kept in
# memory where there is room: most tests make a schema of their own, 120 files, and 40
# of them took 5.3 s of processor time there and 9.9 s on a disk.
WITHPOSTGRES := go run ./tools/withpostgres
INMEMORY     := $(shell [ "$$(df -kP /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')" -gt 8000000 ] 2>/dev/null && echo -in /dev/shm)
SETTINGS     := $(INMEMORY) -set fsync=off -set full_page_writes=off
TESTSERVER   := $(WITHPOSTGRES) $(SETTINGS) --

# The versions of PostgreSQL that everything has to pass on. make check runs on the
# one that is installed and what is PostgreSQL's own on the newest as well.
VERSIONS := 15 16 17 18
NEWEST   := $(lastword $(VERSIONS))

# Pinned, so that a new release of the linter breaks nobody's build.
GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# What GitHub refuses of a workflow, or runs in another way than it reads. Without other linters that a machine may have.
ACTIONLINT := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

# The generator of the site, the newest that the Go above compiles. The first run compiles
# it, which takes two minutes of processor time; it needs no C.
HUGO := CGO_ENABLED=0 go run github.com/gohugoio/hugo@v0.165.0

# Every checkout uses what another has compiled: with its path in what is compiled, building the tests of make
# test took 260 s of processor time in a second one, without it 3 s.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

# The packages whose tests take longest begin first, so that in the end nothing
# waits for one of them alone. "work" is every package of every module in go.work,
# where "./..." ends at the border of a module.
P        := github.com/bravellian/pawl
PACKAGES := ./internal/sql/postgres $(P)/cmd/pawl ./outbox ./admin $(P)/ui ./fleet ./join work
# What is a leg of its own: a browser, brokers, the site, examples, which are whole programs, and torture.
APART := $(P)/ui/browsertest $(P)/ui/browsertest/site $(P)/sink/watermill/brokertest $(P)/examples/.* $(P)/torture $(P)/internal/test/sdktest
# Tested without the race detector: the command line, whose goroutines are those of the packages below it
# and whose parser makes the grammar anew for every command (with it 150 s in place of 67), hashes of
# passwords, tools, and SQL that is called from one place.
PLAIN := $(P)/cmd/pawl.* $(P)/sqlserver/internal/.* $(P)/tools/.* $(P)/internal/test/interleave $(P)/internal/move $(P)/internal/test/guide $(P)/internal/test/walk \
	$(P)/internal/test/docblocks $(P)/internal/test/pgcluster
# What make test leaves to make check beside them: tools, SQL Server, what checks the tests themselves.
LATER := $(P)/sqlserver.* $(P)/torture.* $(P)/bench.* $(P)/tools/.* $(P)/internal/test/interleave $(P)/internal/test/guide $(P)/internal/test/docblocks \
	$(P)/internal/test/pgcluster
listed = $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $(PACKAGES) | awk '!seen[$$0]++' | grep $(1) $(foreach p,$(2),-e '^$(p)$$'))

# The race detector watches all Go code but SQLite itself, which is C translated to
# Go: its memory is its own, and it locks what threads share. Watching it as well
# made SQLite's conformance suite take 61 s of processor time instead of 13. What debuggers read is left out.
RACE := -race -ldflags=-w -gcflags=$(P)/...=-dwarf=false $(foreach p,sqlite/lib libc memory,-gcflags=modernc.org/$(p)=-race=false)

# Packages at once, and tests of each: most of them wait for a lease, a delay or a database
# most of the time. With two tests at once, Go's default on two cores, outbox took 206 s
# instead of 168 with six; with eight, tests of turns in fleets fail on a busy machine.
AT_ONCE := -p 3 -parallel 4

# make static has vetted everything; each leg would do so again.
VETTED := -vet=off

# How long each fuzz target runs.
FUZZTIME ?= 10s

.DEFAULT_GOAL := help

space := $() $()

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Packages whose tests need neither a server nor SQLite, whose translated C takes
# long to compile for another processor. An int of 32 bits is where they would fail.
NARROW := ./cron ./internal/engine ./internal/enginekit/... ./internal/worker

.PHONY: test-narrow
test-narrow: ## what can be tested of 32-bit machines without a server
	GOARCH=386 go vet $(NARROW)
	@dir=$$(mktemp -d) && echo 'package main; func main() {}' >$$dir/main.go; \
	if GOARCH=386 go run $$dir/main.go 2>/dev/null; then GOARCH=386 go test $(NARROW); \
	else echo "no 32-bit x86 program runs on this machine: emulated ARM"; \
		sh internal/test/apt/install.sh qemu-user && GOARCH=arm go test -exec qemu-arm $(NARROW); fi; \
	code=$$?; rm -r $$dir; exit $$code
	GOARCH=386 go build ./outbox ./join ./inbox ./timer ./job ./lease ./fleet

.PHONY: test
test: ## what pins behaviour, on SQLite and PostgreSQL: five minutes on two cores in a fresh clone
	@$(TESTSERVER) $(MAKE) --no-print-directory test-behaviour

.PHONY: test-behaviour
test-behaviour:
	GOGC=300 go test $(LEAN) $(AT_ONCE) $(VETTED) -timeout 15m -skip '$(LONG)' $(call listed,-v,$(APART) $(LATER))

# The race detector's leg and the plain one take both cores each: at once they took as long, and
# tests waited for a processor longer than the delays that they watch.
.PHONY: check
check: cc static test-narrow ## all else: the race detector, faults, browser, brokers, drivers, a second PostgreSQL, the site
	@$(TESTSERVER) $(MAKE) --no-print-directory check-race check-plain
	@$(TESTSERVER) $(MAKE) --no-print-directory -j2 test-newest test-drivers test-chart test-browser test-brokers test-sdk test-examples
	@$(MAKE) --no-print-directory -j2 test-site test-torture
	@test -n "$$PAWL_TEST_SQLSERVER" || echo "SQL Server: not run; make test-sqlserver does (docs/sqlserver.md)"

# Every suite on SQL Server, whose module the library does not know: the overlay puts files of
# that module in the place of two files of tests. That these compile, TestSuitesCompile checks.
# SETTING=rcsi-on, rcsi-off, turkish or bin2 makes a database with that setting; without it the
# database is taken as it is. VERSION is a container's, where no server is named. QUICK=1 runs what a
# change below sqlserver/ has to pass, without the torture. The rows of docs/evidence/sqlserver.md go to $(EVIDENCE).
WITHSQLSERVER = go run ./sqlserver/internal/withsqlserver $(if $(VERSION),-version $(VERSION)) $(if $(SETTING),-setting $(SETTING)) --
SUITES        = $(if $(QUICK),./sqlserver/... ./outbox ./lease,./... ./metrics/... ./sink/webhook/... ./sqlserver/... ./traces/... ./ui/...)
EVIDENCE     ?= build/sqlserver.md

.PHONY: test-sqlserver
test-sqlserver: ## every suite, and the torture for ten minutes, on a SQL Server: PAWL_TEST_SQLSERVER's, or a container (docs/sqlserver.md)
	@mkdir -p "$$(dirname "$(EVIDENCE)")"
	@$(WITHSQLSERVER) $(TESTSERVER) $(MAKE) --no-print-directory test-sqlserver-suites

# First pawl's own test of a server, whose report stands beside the rows, in the end the torture. All run, and each
# fails. The last command of the pipe fails when a test failed, or none ran.
REPORT  = $(basename $(EVIDENCE))-report.md
TORTURE = $(basename $(EVIDENCE))-torture.txt

.PHONY: test-sqlserver-suites
test-sqlserver-suites:
	@code=0; \
	go run ./cmd/pawl --db "$$PAWL_TEST_SQLSERVER" evidence >"$(REPORT)" || code=1; cat "$(REPORT)"; \
	go test -json -overlay sqlserver/testdata/suites/overlay.json $(VETTED) -timeout 60m -skip '/^(sqlite|postgres)$$|On(Postgres|SQLite)$$' $(SUITES) | \
	go run ./tools/evidence -record "$(EVIDENCE)" || code=1; \
	$(if $(QUICK),,go run ./torture -engine sqlserver -duration 10m >"$(TORTURE)" || code=1; cat "$(TORTURE)";) exit $$code

.PHONY: evidence
evidence: ## put the rows of runs, ROWS="FILE…", into docs/evidence/sqlserver.md, and write what is said of SQL Server
	go run ./tools/evidence -merge $(ROWS)
	go run ./tools/evidence -update

# What make test leaves to make check: faults under load, processes that are killed, servers of their own,
# races and interleavings in all orders, simulations, what reads every statement or every page. The list is by name, so a test that gets another
# name runs in both.
LONG := ^(Test($(subst $(space),|,$(strip \
	CostOfAMessage OneHotValue ConformanceWithoutPreparedStatements CallsEndWhenTheServerDoesNotAnswer SilentChannelIsNoticed EverythingIsSentOverTLS \
	LimitUnderFire OrderUnderFire RateOverAMinute StressOnPostgres StressOnSQLite PoisonAmongMany RunFailsWhatKillsItsWorker ExpiredClaimOfDeletedMessages \
	DumpPutBackAndServerKilled Failover SynchronousFailover AsynchronousFailover ReadOnlyPrimary NameThatLeadsElsewhere PositionsThatAreTaken \
	OneOfThreeClustersDies ProcessesSharePostgres DeletedFileStaysDeleted PairsOfProcessesShareFiles ProcessesShareFiles MoveUnderLoad ConnectionsAreBounded \
	SilentServer TenantCanaries Simulate Simulated.* Idle.*IsCheap \
	OldConnectionsGoSilent CutConnection BlackHole SlowConnection GuardKeepsOut WaitCrashBetweenSteps DeleteMiddle PutMeanwhile TenYears Resume \
	FiresInDueOrder FiresInTime ChangesWhileAsleep ProcessesOnPostgres ExamineJoinsStayOver ExaminePostgresOfItsOwn \
	OperatingGuide NoCommandSteersATerminal Demo Incidents OversizeInputTakesNoMemory DrainSaysWhatIsLeft CommandsTell.* DocumentedCommands BadCommands ManPages \
	ConformanceInAPoolOfTheProgram OrderWhateverThePlan Flood SickStoresHoldUpNobody OppositeOrders CrashAtCalls CutConnections ManyMembers YearOfChanges SimulateTwice TwoMovers \
	LeaseRun.* MendByFilter BulkKilledWorker KilledWorkerIsRedelivered Walks \
	CitusOwner OverlappingSettlesShareOutTheClaim EveryRoleWithEveryObject RolesMayWhatTheyAreFor OddSchemaNames PoisonAmongFew OrderAmongWorkers RunLongHandler \
	TwoSessions ConcurrentAcks WaitHandledConcurrently AttachRaces LeaseLostBefore.* ToggledAmongWorkers ExamineJoinsRepairedWhileWorkersRun KilledAtEveryMoment OnceConcurrently \
	DispatchThenChange ChangeThenDispatch ReplaceThenDispatch ClaimThenChange KilledWhileFiring SeveralSchedulers .*Against(Fire|Dispatch) \
	IncidentsOfPools VolumesOfMessages OutputThatNobodyReads SecondSignalExitsAtOnce SignalWhileExiting OneStopAsTwoSignals ProgressOnATerminal)))|FuzzOpen|FuzzRequests)$$
# Quick to build rather than quick: our packages without optimization take half the processor time to compile
# (130 s less), and the linker leaves out what debuggers read. make check tests what is released.
LEAN := -short -ldflags=-s '-gcflags=$(P)/...=-N -l -dwarf=false'

# What measures memory, round trips and rows, which the race detector changes, what waits for servers of its own,
# and what runs many processes, whose loops other tests watch. Long simulations of fleets took 53 s of processor time with it and 9 s without.
MEASURED := ^Test($(subst $(space),|,$(strip \
	VolumesOfMessages CostOfAMessage Idle(File|Schema)IsCheap Simulated(Budgets|Fairness|Sickness|SilentServer|Outage) OneHotValue ConformanceWithoutPreparedStatements NothingOfPublicIsCalled \
	DumpPutBackAndServerKilled .*[fF]ailover ReadOnlyPrimary PositionsThatAreTaken LimitUnderFire \
	(PairsOf)?ProcessesShare(Files|Postgres) MoveUnderLoad OneOfThreeClustersDies TenantCanaries)))$$

# Of what make test has run on PostgreSQL the race detector watches only the engine's own tests: the Go code above it
# is the same on SQLite, and the server took two thirds of the time (of join 110 s of processor time, with SQLite 70).
ABOVE := /^(postgres|repeatable_read)$$

# Every process under the race detector waits a second at its end by default. Collecting less often saved a fifth of
# join's processor time.
WATCHED := GOGC=400 GORACE=atexit_sleep_ms=50 go test $(RACE) $(AT_ONCE) $(VETTED) -timeout 25m

.PHONY: check-race
check-race:
	$(WATCHED) -skip '$(MEASURED)|$(LONG)|$(ABOVE)' $(call listed,-v,$(APART) $(PLAIN))
	$(WATCHED) -run '$(LONG)' -skip '$(MEASURED)' $(call listed,-v,$(APART) $(PLAIN))

# Tests of other modules read files of this one, for which go test's cache does not look: the guide of logs
# was behind for a week, and its test "(cached)".
.PHONY: check-plain
check-plain:
	go test -count 1 -ldflags=-w $(VETTED) -parallel 4 -timeout 25m $(call listed,,$(PLAIN))
	go test -ldflags=-w $(VETTED) -timeout 15m -run '$(MEASURED)' . ./outbox ./fleet ./internal/sql/postgres ./ui

# The engine's tests on the newest PostgreSQL: plans and orders are other ones there.
# Without the race detector: the Go code is the same. test-matrix has the components'
# tests on every version; here they took four minutes of thirteen.
.PHONY: test-newest
test-newest:
	@$(WITHPOSTGRES) -version $(NEWEST) $(SETTINGS) -- go test $(VETTED) -timeout 25m -skip WithoutPreparedStatements ./internal/sql/postgres

# The dashboard in Chromium, which is installed if it is missing. Without the race detector:
# what runs most is the browser.
.PHONY: test-browser
test-browser: ## the dashboard in a browser
	go test $(VETTED) -timeout 10m ./ui/browsertest

.PHONY: site
site: ## the documentation as a site, in site/public; its links are checked
	$(HUGO) -s site --cleanDestinationDir --noBuildLock --panicOnWarning --quiet
	go run ./tools/links -site site/public

.PHONY: site-serve
site-serve: ## the site on http://127.0.0.1:1313, made again when a page changes
	$(HUGO) server -s site --bind 127.0.0.1 --noBuildLock

.PHONY: test-site
test-site: site ## the site: its links, and its pages and search in a browser
	go test $(VETTED) -count 1 -timeout 10m ./ui/browsertest/site

# NATS, Redis, which is installed if it is missing, and a program that speaks Kafka's
# protocol. Without the race detector: what runs most are the brokers.
.PHONY: test-brokers
test-brokers: ## forwarding to brokers that are killed meanwhile
	go test $(VETTED) -timeout 10m ./sink/watermill/brokertest

# Python, Node.js and what they need are installed if they are missing. Without the race detector: what
# runs are processes.
.PHONY: test-sdk
test-sdk: ## workers in Python and TypeScript beside workers in Go, which are killed meanwhile
	go test $(VETTED) -count 1 -timeout 15m ./internal/test/sdktest

# Without the race detector: the programs that run are built by the READMEs' own commands.
.PHONY: test-examples
test-examples: ## every example does what its README shows
	go test $(VETTED) -timeout 10m $$(go list work | grep '$(P)/examples/')

# With servers of its own, which it kills. Without the race detector: what runs are processes.
.PHONY: test-torture
test-torture: ## processes under faults, for a minute
	go test $(VETTED) -count 1 -timeout 10m ./torture

# ARGS="-seed 17 -engine sqlite -faults kill,stop" and others: torture/README.md.
.PHONY: torture
torture: ## processes under faults on both engines, for five minutes
	go run ./torture -duration 150s $(ARGS)

.PHONY: torture-long
torture-long: ## the same for an hour on each engine
	go run ./torture -duration 1h $(ARGS)

.PHONY: test-matrix
test-matrix: cc static ## every test on PostgreSQL 15, 16, 17 and 18, one after the other
	@for version in $(VERSIONS); do \
		echo "PostgreSQL $$version"; \
		$(WITHPOSTGRES) -version $$version $(SETTINGS) -- $(MAKE) --no-print-directory test-behaviour check-race check-plain || exit 1; \
	done

# Other drivers and libraries, in a module of their own that is not in go.work: all
# modules there share one version of everything. SQLite in C is compiled for these
# tests alone: quickly rather than well.
.PHONY: test-drivers
test-drivers: ## other drivers and libraries on both engines
	GOWORK=off CGO_CFLAGS="-O1 -g0" go test -C internal/test/driverstest -timeout 25m ./...

# The chart, by Helm's library: a module of its own that is not in go.work, because half of
# Kubernetes' clients come with it.
.PHONY: test-chart
test-chart: ## the Helm chart: linted, rendered, checked
	GOWORK=off go test -C deploy/helm/test -timeout 15m ./...

.PHONY: check-long
check-long: cc static ## every package with the long runs of the stress tests
	PAWL_LONG=1 $(TESTSERVER) go test $(RACE) -timeout 60m $(PACKAGES)

# The formatter of the Go that builds: in PATH there may be another.
GOFMT := "$$(go env GOROOT)/bin/gofmt" -s

.PHONY: fmt
fmt: ## format all Go code
	@$(GOFMT) -l -w .

.PHONY: static
static: ## what needs no database: format, vet, requirements, words, licences
	@files=$$($(GOFMT) -l .) || exit 1; [ -z "$$files" ] || { echo "not formatted; run make fmt:"; echo "$$files"; exit 1; }
	go vet work
	go run ./tools/requirements -check
	go run ./tools/words
	go run ./tools/size
	go run ./tools/licences
	go run ./tools/evidence
	$(ACTIONLINT)
	@$(MAKE) --no-print-directory seeds

# The seeds of a fuzz target that moved or got another name run nowhere.
.PHONY: seeds
seeds:
	@for dir in $$(find . -path '*/testdata/fuzz/*' -type d); do \
		grep -qs "^func $${dir##*/}(" "$${dir%/testdata/*}"/*_test.go || { echo "$$dir: no such fuzz target beside it"; exit 1; }; \
	done

# Pinned. It asks vuln.go.dev for what is known of the modules, so it is no part of make check:
# what was fine yesterday may fail today.
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# One module at a time: go.work makes all use the same versions, as the programs do.
.PHONY: vulncheck
vulncheck: ## known vulnerabilities that the code of each module reaches; needs vuln.go.dev
	@for module in . cmd/pawl metrics traces sink/watermill sink/webhook sqlserver ui; do \
		echo "$$module"; $(GOVULNCHECK) -C $$module ./... || exit 1; \
	done

.PHONY: docs
docs: ## write what of docs/ is made from the code: docs/cli.md, docs/api.md, api/*.txt, docs/engine-contract.md
	PAWL_UPDATE=1 go test ./cmd/pawl -count 1 -run '^TestReference$$'
	go run ./tools/api
	go run ./tools/engine-contract

.PHONY: docs-check
docs-check: ## the documentation: its links, its code blocks, what is made from the code
	go test ./internal/test/docblocks ./tools/links ./tools/api
	go test ./cmd/pawl -run 'TestReference|TestDocumentedCommands|TestOperatingGuide'
	go test ./metrics -run TestYAMLBlocks
	GOWORK=off go test -C internal/test/driverstest .

# golangci-lint takes folders, not "work".
.PHONY: lint
lint: ## golangci-lint over all packages, and every go.mod as go mod tidy writes it
	$(GOLANGCI) run ./... ./cmd/pawl/... ./examples/shop/... ./examples/transactions/... ./examples/webhooks/... ./metrics/... ./sink/watermill/... ./sink/watermill/brokertest/... ./sink/webhook/... ./sqlserver/... ./tools/... ./torture/... ./traces/... ./ui/... ./ui/browsertest/...
	go run ./tools/modules -check

.PHONY: tidy
tidy: ## go mod tidy in every module
	go run ./tools/modules

.PHONY: requirements
requirements: ## write docs/requirements.md from requirements.txt and the tests
	go run ./tools/requirements

.PHONY: mutants
mutants: ## small faults in the code, each of which a named test has to notice
	$(TESTSERVER) go run ./tools/mutants $(ARGS)

BENCH_quick := -quick
BENCH_cores := -cores 1,2,4,8,16 -scenario A,B,C,D,P

# A server as it comes, fsync included: what is measured must be durable.
.PHONY: bench
bench: ## the benchmarks beside other queues; BENCH=quick takes two minutes, BENCH=cores shows how they scale; ARGS="…" hands arguments on
	$(WITHPOSTGRES) -- go run -C bench . $(BENCH_$(BENCH)) $(ARGS)

.PHONY: simulation
simulation: ## the pictures of docs/scale.md, from simulated fleets of up to a million stores
	PAWL_PICTURES=$(CURDIR)/docs/images go test ./fleet -count 1 -timeout 60m -run '^TestSimulationPictures$$' -v

.PHONY: demo
demo: ## the demonstration
	go run ./cmd/pawl demo

.PHONY: screenshots
screenshots: ## the pictures of the dashboard in docs/screenshots
	go run ./ui/browsertest/screenshots

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s)
	@$(TESTSERVER) $(MAKE) --no-print-directory fuzz-targets

# go test fuzzes one target of one package at a time.
# Before Go 1.27 it sometimes fails when the time is over, with "context deadline
# exceeded" and no input (golang/go#75804): hence a second run. An input that failed is
# a seed by then and fails again.
.PHONY: fuzz-targets
fuzz-targets:
	@list=$$(go test -list '^Fuzz' work) || { echo "$$list"; exit 1; }; \
	echo "$$list" | \
	awk '/^Fuzz/ { names[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, names[i]; n = 0 }' | \
	while read -r package name; do \
		echo "$$package $$name"; \
		fuzz() { go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; }; \
		fuzz || fuzz || exit 1; \
	done

# The race detector needs a C compiler and the C library's headers.
.PHONY: cc
cc:
	@echo '#include <stdlib.h>' | $$(go env CC) -x c -c -o /dev/null - 2>/dev/null || \
		sh internal/test/apt/install.sh gcc libc6-dev

# GoReleaser and what writes bills of materials, pinned.
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.15.1
CYCLONEDX  := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# Each module has a tag of its own (metrics/v1.2.3); a release is that of the library.
RELEASE := PATH="$(CURDIR)/build/bin:$$PATH" goreleaser

.PHONY: release-tools
release-tools:
	GOBIN=$(CURDIR)/build/bin go install $(GORELEASER)
	GOBIN=$(CURDIR)/build/bin go install $(CYCLONEDX)

.PHONY: release-check
release-check: release-tools ## what a release is made of, as far as that is known without building it
	$(RELEASE) check
	go test ./tools/release
	go run ./tools/modules -check

.PHONY: snapshot
snapshot: release-tools ## all files of a release in dist, without publishing, and their checks
	PATH="$(CURDIR)/build/bin:$$PATH" sh tools/release/snapshot.sh
	go run ./tools/release

.PHONY: reproducible
reproducible: ## build the program of dist again, from the source archive, and compare
	go run ./tools/release reproducible

.PHONY: release
release: release-tools ## publish the tag that is checked out, as a draft; needs GITHUB_TOKEN and docker
	GORELEASER_CURRENT_TAG=$$(git describe --tags --exact-match --match 'v[0-9]*') $(RELEASE) release --clean
	go run ./tools/release
