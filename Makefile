# Volley: `make` lists the commands. Everything works on a fresh Debian 12 with Swift 6.3; missing packages are installed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
SYSTEMD ?=
SWIFT ?= swift
PACKAGES := libcurl4-openssl-dev libssl-dev libyaml-dev libnghttp2-dev libsqlite3-dev libisal-dev libpq-dev libqrencode-dev pkg-config tzdata
TEST_PACKAGES := nghttp2-server python3
FAULT_PACKAGES := libfaketime iproute2
BENCH_PACKAGES := nghttp2-client python3-venv
BENCH_PYTHON := .build/bench/bin/python3
# The tables that `make bench` makes: --sending and --planning (the default), --calls, --services, --memory, --scaling, --recording,
# --rendering, --reports; --quick makes them small.
BENCH ?=
# A target may import only its dependencies in Package.swift: the boundaries of the modules.
STRICT := --explicit-target-dependency-import-check error
RELEASE := .build/release
SOURCES := Package.swift Sources Tests

.PHONY: help setup servers browser build demo console test test-rest test-all oracle test-servers test-answers test-browser test-pages sanitize faults races machines machines-quick fuzz fuzz-files simulate simulate-workers simulate-breakages planted week bench lint format programs package test-package install installed clean

help: ## List these commands
	@echo "Volley sends push campaigns through APNs, FCM, Getui, JPush and RongCloud. What can be done here:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 27

# $(call install,PACKAGES) installs those that are missing.
define install
missing=$$(for p in $(1); do \
    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then \
    root=$$([ $$(id -u) = 0 ] || echo sudo); \
    echo "Installing:" $$missing; \
    $$root apt-get update -qq; \
    DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends $$missing >/dev/null; \
fi
endef

setup: ## Install missing Debian packages
	@command -v $(SWIFT) >/dev/null || { echo "Swift 6.3 is needed: https://www.swift.org/install/linux/" >&2; exit 2; }
	@$(call install,$(PACKAGES))

# Other projects' servers that the tests send to. They are unpacked, not installed: packages of servers start services.
UNPACKED := nginx=nginx usr/lib/python3/dist-packages/h2=python3-h2 promtool=prometheus \
    $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),,usr/lib/postgresql/15/bin/initdb=postgresql-15+postgresql-client-15)

servers: setup
	@$(call install,$(TEST_PACKAGES))
	@Tests/ForeignServers/install .build/servers $(UNPACKED)

build: setup ## Build the optimised binary, .build/release/volley
	$(SWIFT) build -c release --product volley $(STRICT)

demo: build ## Send a real campaign to the built-in simulator and show its report
	@volley() { printf '\n$$ volley %s\n' "$$*"; $(RELEASE)/volley "$$@"; }; \
	volley check campaigns/*-*.yaml; \
	volley send campaigns/spring-sale.yaml --yes; \
	volley report last --config campaigns/volley.yaml --format csv --output .build/spring-sale.csv; \
	echo "$$(($$(wc -l < .build/spring-sale.csv) - 1)) devices, each with its result, in .build/spring-sale.csv"; \
	volley send campaigns/autumn-festival.yaml --yes; \
	volley runs --config campaigns/volley.yaml

# A copy of the sample campaigns, so that nothing is written next to them; its first app has a test device, and requires approval.
LISTEN ?= 127.0.0.1:8181

console: build ## Start the console on the sample campaigns, with the simulator; LISTEN=127.0.0.1:8181
	$(SWIFT) build -c release --product volley-console $(STRICT)
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	cp -r campaigns/. "$$folder"; rm -rf "$$folder/runs"; \
	$(RELEASE)/volley send "$$folder/spring-sale.yaml" --yes --quiet >/dev/null; \
	device=$$(sed -n '2s/,.*//p' "$$folder/exports/devices.csv"); \
	sed -i "0,/^    pace:/s//    approval: required\n    test_devices: [$$device]\n    pace:/" "$$folder/volley.yaml"; \
	for role in editor approver; do \
	    $(RELEASE)/volley serve "$$folder" --listen $(LISTEN) --invite $$role --role $$role; done; \
	echo "Choose a password with each link, then open http://$(LISTEN)/ in a browser; Ctrl-C ends the console."; \
	$(RELEASE)/volley serve "$$folder" --listen $(LISTEN) || [ $$? = 130 ]

TESTS := .build/debug/volleyPackageTests.xctest
# Fewer rounds are enough for every day, and what Tests/thorough names.
THOROUGH := VOLLEY_THOROUGH=1 VOLLEY_EXPORTS=300 VOLLEY_ORDER_SEEDS=20000 VOLLEY_TEMPLATES=300 VOLLEY_CAMPAIGNS=10000
# The suites and tests whose names match, such as SendTests or RunsFolderTests/links.
ONLY ?=

test: servers ## Run the tests, and name failed ones again at the end; ONLY=SendTests selects by name
	@$(SWIFT) build --build-tests $(STRICT)
	@Tests/run $(TESTS) $(ONLY)

test-rest: servers ## Run the tests of commands that `make test` leaves out
	@$(SWIFT) build --build-tests $(STRICT)
	@Tests/run --rest $(TESTS)

test-all: servers ## Run all tests, also those that take long
	@$(SWIFT) build --build-tests $(STRICT)
	@$(THOROUGH) Tests/run $(TESTS) $(ONLY)

# As above. Go is looked for only there: Debian's Go comes with Debian's golang.org/x/net.
FOREIGN_PACKAGES := python3-venv
FOREIGN_UNPACKED := usr/lib/go-1.19/bin/go=golang-1.19-go+golang-golang-x-net-dev node=nodejs haproxy=haproxy h2o=h2o squid=squid \
    tinyproxy=tinyproxy danted=dante-server microsocks=microsocks
# What the stand-ins in Python need, and clients of the simulators.
FOREIGN_PYTHON := hypercorn==0.18.0 cryptography==50.0.2 firebase-admin==7.7.0 google-auth==2.63.0 packaging==26.4 aioapns==4.0 pyfcm==2.1.1 \
    jpush==3.4.1 kalyke-apns==1.5.0
# PyAPNs2 and what it needs are older than what the others need.
FOREIGN_PYAPNS2 := apns2==0.7.2 hyper==0.7.0 PyJWT==1.7.1 cryptography==50.0.2

# $(call python,FOLDER,MODULES,PACKAGES) installs packages into a folder of their own if a module of theirs is missing.
define python
@.build/servers/$(1)/bin/python3 -c 'import importlib.util, sys; \
    sys.exit(not all(map(importlib.util.find_spec, "$(2)".split())))' 2>/dev/null || { \
    /usr/bin/python3 -m venv .build/servers/$(1) && \
    .build/servers/$(1)/bin/pip install --quiet --disable-pip-version-check $(3); }
endef
SCENARIO ?=

test-servers: servers ## Test Volley with other projects' servers, proxies and clients (ten minutes); SCENARIO=nginx selects by name
	@$(call install,$(FOREIGN_PACKAGES))
	@Tests/ForeignServers/install .build/servers $(FOREIGN_UNPACKED)
	$(call python,python,aioapns cryptography firebase_admin google.auth hypercorn jpush kalyke packaging pyfcm,$(FOREIGN_PYTHON))
	$(call python,python-apns2,apns2 cryptography,$(FOREIGN_PYAPNS2))
	@servers=$(CURDIR)/.build/servers; \
	GOROOT=$$servers/usr/lib/go-1.19 GOPATH=$$servers/usr/share/gocode GOCACHE=$$servers/gocache GO111MODULE=off CGO_ENABLED=0 \
	    $$servers/usr/lib/go-1.19/bin/go build -o $$servers/usr/bin/apns-go Tests/ForeignServers/StandIns/apns.go
	@$(SWIFT) build --build-tests $(STRICT)
	@VOLLEY_FOREIGN_SERVERS="$(SCENARIO)" Tests/run $(TESTS) '^ForeignServersTests\.'

ANSWER_SEEDS = $(if $(filter file,$(origin SEEDS)),2,$(SEEDS))
ANSWER_FIRST ?= 1
ANSWER_DEVICES ?= 20000
# A campaign waits for minutes and works for seconds. Each needs about 120 MB.
ANSWERS_TOGETHER ?= 40

test-answers: build ## Draw every documented answer at random in SEEDS=2 campaigns over five services; compare report, ledger and suppression
	@$(call install,$(FOREIGN_PACKAGES))
	$(call python,python,cryptography hypercorn,$(FOREIGN_PYTHON))
	@.build/servers/python/bin/python3 Tests/ForeignServers/StandIns/answers_check.py --volley $(RELEASE)/volley --seeds $(ANSWER_SEEDS) \
	    --first $(ANSWER_FIRST) --devices $(ANSWER_DEVICES) --together $(ANSWERS_TOGETHER)

BROWSER_PACKAGES := chromium python3-venv
BROWSER_PYTHON := playwright==1.65.2 axe-playwright-python==0.1.8 pyyaml==6.0.4
# Other projects' providers of identities, for sign-ins by OpenID Connect.
PROVIDER_PYTHON := django==5.2.19 django-oauth-toolkit==3.4.1 idpyoidc==5.0.0 flask==3.1.3 oidc-provider-mock==0.3.4 werkzeug==3.1.9 \
    cryptography==50.0.2
# A folder for pictures of every page.
PICTURES ?=

# Chromium, and Python with what drives it.
browser: setup
	@$(call install,$(BROWSER_PACKAGES))
	@python=.build/browser; $$python/bin/python3 -c 'import axe_playwright_python, idpyoidc, oauth2_provider, oidc_provider_mock, playwright, yaml' \
	    2>/dev/null || { /usr/bin/python3 -m venv $$python && \
	    $$python/bin/pip install --quiet --disable-pip-version-check $(BROWSER_PYTHON) $(PROVIDER_PYTHON); }

test-browser: browser ## Install Chromium if it is missing, and go through pages, console and sign-ins in it; PICTURES=folder keeps pictures
	@$(SWIFT) build --build-tests $(STRICT)
	@Tests/run $(TESTS) '^CommandLineTests\.BrowserTests/'
	printf '%s\n' console composer openid | xargs -P 2 -I{} .build/browser/bin/python3 Tests/Journeys/{}.py .build/debug $(PICTURES)

test-pages: browser ## Measure every page of the console with 1,000 runs and 300 campaigns, in Chromium
	$(SWIFT) build -c release --product volley $(STRICT)
	$(SWIFT) build -c release --product volley-console $(STRICT)
	.build/browser/bin/python3 Tests/Journeys/speed.py $(RELEASE)

# Code that runs on several threads or touches raw memory, without tests of speed: nothing is fast under a sanitizer.
SANITIZED := --filter "(Audience|Delivery|HTTP2|Simulators|Cryptography)Tests"

sanitize: servers ## Run the tests of readers and delivery under the thread and the address sanitizer
	TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/ThreadSanitizer.supp" \
	    $(SWIFT) test $(STRICT) --sanitize=thread --scratch-path .build/thread $(SANITIZED)
	LSAN_OPTIONS="suppressions=$(CURDIR)/Tests/LeakSanitizer.supp" \
	    $(SWIFT) test $(STRICT) --sanitize=address --scratch-path .build/address $(SANITIZED)

FAULT_RECIPIENTS ?= 50000
FAULT_KILLS ?= 200

# MIXTURE=quotas plays only mixtures of several services' faults whose name holds it.
MIXTURE ?=

faults: setup ## Play every fault, and kill 200 runs (twenty minutes); compare report and ledger each time
	@$(call install,$(FAULT_PACKAGES))
	VOLLEY_FAULT_RECIPIENTS=$(FAULT_RECIPIENTS) VOLLEY_FAULT_KILLS=$(FAULT_KILLS) VOLLEY_FAULT_MIXTURE="$(MIXTURE)" \
	    $(SWIFT) test $(STRICT) -c release -Xswiftc -enable-testing --scratch-path .build/faults --filter "CommandLineTests\..*FaultTests"

EXPORTS ?= 1000

oracle: setup ## Compare commands on EXPORTS=1000 random exports with rules that were written a second time (minutes)
	$(SWIFT) build $(STRICT) --product volley
	/usr/bin/python3 Tests/Fixtures/audience_compare.py .build/debug/volley 1 $(EXPORTS)

# Like `faults`, a separate optimised build. RACE=retry+retry selects races, separated by commas; SEED=7 repeats one round.
RACES ?= 100
RACE ?=

races: setup ## Start any two commands at the same moment, RACES=100 times each, and compare reports and ledger (hours)
	VOLLEY_RACES=$(RACES) VOLLEY_RACE=$(RACE) VOLLEY_RACE_SEED=$(SEED) \
	    $(SWIFT) test $(STRICT) -c release -Xswiftc -enable-testing --scratch-path .build/faults --filter "CommandLineTests\.RaceTests"

# Like `faults`, a separate optimised build. Each history is one run of three processes; FAULT=kill-home,stop-helper selects faults, ROUND=7 repeats one
# round. Histories measure time, so a few at a time at most.
MACHINE_ROUNDS ?= 20
MACHINE_RECIPIENTS ?= 300000
MACHINE_PACE ?= 6000
MACHINE_TOGETHER ?= 1
FAULT ?=
ROUND ?=

machines: servers ## Send one run over three machines, MACHINE_ROUNDS=20 times with each fault, and compare report and ledger (hours)
	@$(call install,libfaketime)
	VOLLEY_MACHINE_ROUNDS=$(MACHINE_ROUNDS) VOLLEY_MACHINE_RECIPIENTS=$(MACHINE_RECIPIENTS) VOLLEY_MACHINE_PACE=$(MACHINE_PACE) \
	    VOLLEY_MACHINE_TOGETHER=$(MACHINE_TOGETHER) VOLLEY_MACHINE_FAULT=$(FAULT) VOLLEY_MACHINE_SEED=$(ROUND) \
	    $(SWIFT) test $(STRICT) -c release -Xswiftc -enable-testing --scratch-path .build/faults --filter "MachinesTests\.MachineFaultTests"

machines-quick: servers ## The same with a small run for each fault, all at the same time (two minutes)
	@$(call install,libfaketime)
	@$(SWIFT) build --build-tests $(STRICT)
	@Tests/run $(TESTS) '^MachinesTests\.'

# A separate scratch path: libFuzzer and the address sanitizer need their traces in every object. The corpus that grows during a run
# stays below it; put a finding into Tests/Fuzzing/Corpus/TARGET, where `make test` repeats it.
FUZZ := .build/fuzz
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= csv json gzip yaml template
FUZZ_FLAGS := -timeout=20 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1

fuzz: setup ## Fuzz the readers of files from outside, FUZZ_SECONDS=60 for each of FUZZ_TARGETS
	VOLLEY_FUZZER=1 $(SWIFT) build -c release --product volley-fuzz --scratch-path $(FUZZ) $(STRICT) \
	    -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address
	@failed=""; mkdir -p $(FUZZ)/findings; \
	for target in $(FUZZ_TARGETS); do \
	    mkdir -p $(FUZZ)/corpus/$$target; log=$(FUZZ)/$$target.log; \
	    if $(FUZZ)/release/volley-fuzz $$target $(FUZZ_FLAGS) -max_total_time=$(FUZZ_SECONDS) \
	        -artifact_prefix=$(FUZZ)/findings/$$target- $(FUZZ)/corpus/$$target Tests/Fuzzing/Corpus/$$target >$$log 2>&1; \
	    then found="nothing found"; else found="A FINDING, see $$log"; failed="$$failed $$target"; fi; \
	    echo "$$target: $$(sed -n 's/^stat::number_of_executed_units: *//p' $$log) executions, $$found"; \
	done; \
	if [ -n "$$failed" ]; then ls $(FUZZ)/findings; exit 1; fi

FUZZ_FILES ?= 10000
FUZZ_FIRST ?= 0

fuzz-files: servers ## Damage every kind of file that Volley keeps, FUZZ_FILES=10000 times in the tests, then for FUZZ_SECONDS=60 with the commands
	@$(SWIFT) build --build-tests $(STRICT)
	VOLLEY_FUZZ_FILES=$$(($(FUZZ_FILES) / 19 + 1)) VOLLEY_FUZZ_FIRST=$(FUZZ_FIRST) \
	    $(TESTS) --testing-library swift-testing --filter '^(RunsTests\.(DamagedFileTests|FlippedBitTests)|AccountsTests\.DamagedAccountsTests|ClusterTests\.DamagedStoreTests)'
	/usr/bin/python3 Tests/Fuzzing/Files/files.py .build/debug $(FUZZ_FILES) $(FUZZ_FIRST) $(FUZZ_SECONDS)

# Separate programs, optimised, from the sources of the tests; they need a separate scratch path because their objects enable testing.
SIMULATE := .build/simulate
SEEDS ?= 1000000
FIRST ?= 0
SEED ?=
SIMULATION_FLAGS := -c release -Xswiftc -enable-testing -Xswiftc -enforce-exclusivity=unchecked

PLAYED = $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --first $(FIRST))

simulate: setup ## Simulate SEEDS=1000000 campaigns with every fault, then as many shared runs; SEED=123 shows one campaign
	VOLLEY_SIMULATION=1 $(SWIFT) build $(SIMULATION_FLAGS) --product volley-simulate --scratch-path $(SIMULATE) $(STRICT)
	@$(SIMULATE)/release/volley-simulate $(PLAYED)
	@$(if $(SEED),,$(MAKE) --no-print-directory simulate-workers)

simulate-workers: setup ## Simulate SEEDS=1000000 runs that several workers send, or SEED=123 for one with all its events
	VOLLEY_SIMULATION=1 $(SWIFT) build $(SIMULATION_FLAGS) --product volley-simulate-workers --scratch-path $(SIMULATE) $(STRICT)
	@$(SIMULATE)/release/volley-simulate-workers $(PLAYED)

simulate-breakages: setup ## Break the delivery machine on purpose, in one way after the other, and check that the simulation notices
	@SWIFT="$(SWIFT)" SIMULATION_FLAGS="$(SIMULATION_FLAGS) --product volley-simulate $(STRICT)" Tests/Simulation/Breakages/run $(BREAKAGES)

# FAULTS="one-guess-too-many Reports" plants these only: names or numbers of Tests/PlantedFaults/faults.toml, or folders of Sources.
FAULTS ?=

planted: servers ## Plant sixty faults in a copy of the sources (one build), and see which test of their module catches each (an hour)
	@SWIFT="$(SWIFT)" STRICT="$(STRICT)" /usr/bin/python3 Tests/PlantedFaults/run $(FAULTS)

WEEK_MINUTES ?= 10
# Each makes 168 runs of WEEK_DEVICES in the week: with six it is a thousand.
WEEK_CAMPAIGNS ?= 1
WEEK_DEVICES ?= 2000

week: build ## Let `volley schedule` live through a week in WEEK_MINUTES=10 by a fast clock, and see that nothing grows
	@/usr/bin/python3 Tests/Journeys/week.py $(RELEASE) $(WEEK_MINUTES) $(WEEK_CAMPAIGNS) $(WEEK_DEVICES)

bench: setup ## Compare Volley's speed with other tools (minutes; see docs/performance.md)
	@$(call install,$(BENCH_PACKAGES))
	@$(BENCH_PYTHON) -c 'import duckdb, polars' 2>/dev/null || { \
	    /usr/bin/python3 -m venv .build/bench && .build/bench/bin/pip install --quiet --disable-pip-version-check duckdb polars; }
	$(SWIFT) build -c release --product volley $(STRICT)
	$(SWIFT) build -c release --product volley-bench $(STRICT)
	@$(RELEASE)/volley-bench $(BENCH)

lint: ## Check formatting and the rules of .swift-format
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format: ## Format all sources
	$(SWIFT) format format --in-place --recursive --parallel $(SOURCES)

# What is installed needs nothing of Swift's toolchain. A separate scratch path, as the runtime of Swift is inside.
INSTALLED := .build/package
PACKAGE_PACKAGES := debhelper dpkg-dev lintian

programs: setup
	@SWIFT="$(SWIFT)" .packaging/programs $(INSTALLED) $(STRICT)

package: programs ## Make the Debian packages volley and volley-console in .build/package/debian
	@$(call install,$(PACKAGE_PACKAGES))
	@.packaging/package $(INSTALLED)

test-package: package ## Install, use, upgrade, remove and purge the packages in a fresh Debian 12 (minutes; as root)
	@$(call install,debootstrap)
	@Tests/Packages/run $(INSTALLED)/debian .build/debian-12.tar

install: programs ## Install programs, man pages and completions under PREFIX (/usr/local); SYSTEMD=1 adds the services
	@$(MAKE) --no-print-directory installed

installed:
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 share/bash-completion/completions share/zsh/site-functions \
	    share/fish/vendor_completions.d)
	install -m 755 $(INSTALLED)/release/volley $(INSTALLED)/release/volley-console $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(INSTALLED)/manual/volley.1 $(INSTALLED)/manual/volley-console.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(INSTALLED)/release/volley --generate-completion-script bash | sed '1{/^#!/d}' > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/volley
	$(INSTALLED)/release/volley --generate-completion-script zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_volley
	$(INSTALLED)/release/volley --generate-completion-script fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/volley.fish
	$(if $(SYSTEMD),install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/lib/sysusers.d; \
	    install -m 644 .packaging/etc/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/volley.conf; \
	    for unit in .packaging/units/*; do \
	    sed 's|/usr/local/bin/|$(PREFIX)/bin/|' $$unit > $(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}; done)

clean: ## Remove everything that was built, and the demo's runs
	rm -rf .build campaigns/runs
