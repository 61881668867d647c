# SPDX-License-Identifier: MIT
# make help lists the targets. Adding a .c file needs no edit here.

comma   := ,
VARIANT := $(or $(if $(SAN),san-$(subst $(comma),-,$(SAN))),$(if $(COV),cov),opt)
B       := build/$(VARIANT)
VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wundef -Wvla -Wwrite-strings \
           -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
override CPPFLAGS += -D_GNU_SOURCE -Ipreload -MMD -MP \
           -DLH_VERSION='"$(VERSION)"'
override CFLAGS   += -std=gnu11 $(WARN) -pthread -fno-omit-frame-pointer \
           $(if $(SAN),-fsanitize=$(SAN)) $(if $(COV),--coverage)

# The Debian packages that build, test and demonstrate lockhound. Those in
# OPTIONAL are rivals to compare with, the runtime of libFuzzer for `make fuzz`,
# shells to complete in and lintian; without them columns of figures are absent
# and tests are skipped.
PACKAGES := build-essential git clang clang-format clang-tidy cppcheck \
            libdw-dev libelf-dev libjansson-dev libunwind-dev libcmocka-dev \
            libglib2.0-dev bats mandoc gdb memcached redis-server redis-tools \
            sysbench xz-utils python3 mariadb-server graphviz \
            libsqlite3-dev sqlite3
OPTIONAL := libclang-rt-14-dev valgrind zsh fish lintian chromium

core_src    := $(wildcard preload/core/*.c)
runtime_src := $(wildcard preload/runtime/*.c)
hooks_src   := $(wildcard preload/hooks/*.c)
tools_src   := $(wildcard tools/*.c)
unit_src    := $(wildcard tests/unit/test_*.c)
fuzz_src    := $(wildcard tests/fuzz/fuzz_*.c)
have_glib   := $(shell pkg-config --exists glib-2.0 2>/dev/null && echo yes)
bench_src   := $(filter-out $(if $(have_glib),,%/gmutex.c),\
                 $(wildcard tests/bench/*.c tests/bench/*.cpp))
example_src := $(wildcard examples/*.c)
ord_src     := $(wildcard examples/ord/*.c)

objs = $(patsubst %.c,$(B)/$(1)/%.o,$(2))
preload_obj := $(call objs,pic,$(core_src) $(runtime_src) $(hooks_src))
tools_obj   := $(call objs,exe,$(tools_src) $(core_src))
units       := $(patsubst tests/unit/%.c,$(B)/unit/%,$(unit_src))
fuzzers     := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(fuzz_src))
benches     := $(patsubst tests/bench/%,$(B)/bench/%,$(basename $(bench_src)))
examples    := $(patsubst examples/%.c,$(B)/examples/%,$(example_src))

.PHONY: all deps demo test test-long test-unit test-ord units benches bench install deb uninstall \
        fuzz fuzzers test-fuzz clean format format-check lint help
.DELETE_ON_ERROR:

all: $(B)/lockhound $(B)/liblockhound.so $(B)/libord.a $(B)/libord.so $(examples)

# The preload: libc alone, everything bound at start, first to be constructed,
# its unwinder private (a static libgcc whose names stay inside).
$(B)/liblockhound.so: $(preload_obj) preload/hooks/exports.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -static-libgcc -nostartfiles -o $@ \
	  $(preload_obj) -Wl,-z,now -Wl,-z,initfirst -Wl,-z,relro \
	  -Wl,--no-undefined -Wl,--exclude-libs,ALL -Wl,--wrap=pthread_once \
	  -Wl,--version-script=preload/hooks/exports.map -Wl,-soname,liblockhound.so

$(B)/lockhound: $(tools_obj)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(tools_obj) -ldw -lelf -ljansson -lunwind-ptrace \
	  -lunwind-coredump -lunwind-x86_64 -lunwind -lsqlite3

$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -fomit-frame-pointer \
	  -ftls-model=initial-exec -fno-stack-protector -fno-builtin-malloc \
	  -c -o $@ $<

# Where its functions are made, a loop must not become a call to them.
$(B)/pic/preload/runtime/string.o: override CFLAGS += -fno-builtin

$(B)/exe/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# Its source takes these in by itself, which the compiler does not tell.
$(B)/exe/tools/html_assets.o: tools/html.css tools/html.js

# A unit test takes from this what it names: everything but the hooks and main.
parts := $(call objs,exe,$(core_src) \
           $(filter-out preload/runtime/string.c,$(runtime_src)) \
           $(filter-out tools/main.c,$(tools_src)))
$(B)/parts.a: $(parts)
	rm -f $@
	$(AR) rcs $@ $(parts)

# The command alone: a few names are in the preload too.
$(B)/command.a: $(filter-out %/main.o,$(tools_obj))
	rm -f $@
	$(AR) rcs $@ $^

$(B)/unit/%: tests/unit/%.c $(B)/parts.a $(B)/libord.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itools -Itests/unit -Iexamples/ord $(CFLAGS) \
	  $(LDFLAGS) -o $@ $< $(B)/parts.a $(B)/libord.a -lcmocka -ldw -lelf \
	  -ljansson -lsqlite3

# What feeds files to a reader, or libFuzzer's main where FUZZER is set. The
# ends of a command and its streams are led to the harness.
$(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/harness.c $(B)/command.a \
             $(B)/parts.a \
             $(if $(FUZZER),,tests/fuzz/main.c) $(wildcard tests/fuzz/*.h) \
             $(B)/fuzz/liblockhound.so
	$(CC) $(CPPFLAGS) -Itools -Itests/fuzz $(CFLAGS) $(LDFLAGS) \
	  $(if $(FUZZER),-fsanitize=fuzzer) -Wl,--wrap=exit \
	  -Wl,--wrap=fopen -Wl,--wrap=fclose -o $@ \
	  $(filter %.c,$^) $(B)/command.a $(B)/parts.a -ldw -lelf -ljansson -lsqlite3 \
	  -lunwind-ptrace -lunwind-coredump -lunwind-x86_64 -lunwind

$(B)/fuzz/suppress $(B)/fuzz/baseline: tests/fuzz/sample.c
$(B)/fuzz/proc: override LDFLAGS += -Wl,--wrap=open -Wl,--wrap=lh_sys_open

# Libraries that only have the names which a core file's reader looks for.
$(B)/fuzz/liblockhound.so: tests/fuzz/names
	@mkdir -p $(@D)
	tests/fuzz/names $(@D)

$(B)/bench/%: tests/bench/%.c $(B)/libord.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Iexamples/ord $(CFLAGS) $(LDFLAGS) -o $@ $< -ldl \
	  $(B)/libord.a

$(B)/bench/%: tests/bench/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) -std=gnu++17 -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) \
	  -pthread $(LDFLAGS) -o $@ $<

$(B)/bench/gmutex: tests/bench/gmutex.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< \
	  $$(pkg-config --cflags --libs glib-2.0)

# libord, and the programs that show it. They keep what a debugger wants.
$(B)/ord/%.o: examples/ord/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Iexamples/ord $(CFLAGS) -fPIC -c -o $@ $<

$(B)/libord.a: $(patsubst examples/ord/%.c,$(B)/ord/%.o,$(ord_src))
	rm -f $@
	$(AR) rcs $@ $^

$(B)/libord.so: $(patsubst examples/ord/%.c,$(B)/ord/%.o,$(ord_src))
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libord.so.0 -o $@ $^

$(B)/examples/%: examples/%.c $(B)/libord.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Iexamples/ord -std=gnu11 $(WARN) -O1 -g -pthread \
	  -o $@ $< $(B)/libord.a

deps:
	@missing=; for p in $(PACKAGES) $(OPTIONAL); do \
	  dpkg -s $$p 2>/dev/null | grep -q '^Status: install ok' || \
	  missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  $$SUDO apt-get update && \
	  $$SUDO env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
	    apt-get install -y --no-install-recommends $$missing; fi

demo: all
	$(B)/lockhound run --dir=$(B)/demo --exit-code=0 -- \
	  $(B)/examples/broken_transfer

clean:
	rm -rf build

units: $(units)
fuzzers: $(fuzzers)
benches: $(benches)

# Every test; the last line counts them.
test: all $(units) $(benches) $(fuzzers)
	@B=$(B) tests/all

test-long: all $(units) $(benches) $(fuzzers)
	@B=$(B) tests/all --long

test-unit: $(units)
	@for u in $(units); do \
	  CMOCKA_MESSAGE_OUTPUT=STDOUT $$u || exit 1; done

# libord's tests alone, their stress for STRESS_MS each; for SAN=thread.
STRESS_MS ?= 100
ord_units := $(filter $(B)/unit/test_ord_%,$(units))
test-ord: $(ord_units)
	@for u in $(ord_units); do \
	  ORD_STRESS_MS=$(STRESS_MS) CMOCKA_MESSAGE_OUTPUT=STDOUT $$u || exit 1; \
	done

# What is kept of fuzzing, once through each reader.
test-fuzz: $(fuzzers)
	@B=$(B) tests/fuzz/check

# Each reader with libFuzzer for so long, on from what is kept.
FUZZ_SECONDS ?= 600
FUZZ_READERS ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_src))
fuzz:
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang FUZZER=1 \
	  SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -g' fuzzers
	@tests/fuzz/run $(FUZZ_SECONDS) $(FUZZ_READERS)

# Figures, never a test: the plain program beside the watched one and rivals.
bench: all $(benches)
	@B=$(B) tests/bench/run

# Made anew each time: PREFIX may be another.
D := $(DESTDIR)$(PREFIX)
.PHONY: $(B)/ord.pc $(B)/lockhound.pc
$(B)/ord.pc:
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: ord' \
	  'Description: ordered and bounded locking over pthreads' \
	  'Version: $(VERSION)' 'Libs: -L$${prefix}/lib -lord -pthread' \
	  'Cflags: -I$${prefix}/include -pthread' >$@

$(B)/lockhound.pc:
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' \
	  'preload=$${prefix}/lib/lockhound/liblockhound.so' 'Name: lockhound' \
	  'Description: annotations for the lock-order detector lockhound' \
	  'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' >$@

# Made from the help of the command that was just built.
completions := $(addprefix $(B)/completion/,bash zsh fish)
$(completions): $(B)/completion/%: $(B)/lockhound $(wildcard tools/packaging/*)
	@mkdir -p $(@D)
	tools/packaging/completion $(B)/lockhound $* >$@

# Where the shells look below PREFIX; Debian's zsh has another place.
BASH_DIR := share/bash-completion/completions
ZSH_DIR  ?= share/zsh/site-functions
FISH_DIR := share/fish/vendor_completions.d

install: all $(B)/ord.pc $(B)/lockhound.pc $(completions)
	install -d $(D)/bin $(D)/lib/lockhound $(D)/lib/pkgconfig \
	  $(D)/include/ord $(addprefix $(D)/share/man/,man1 man3 man5) \
	  $(addprefix $(D)/,$(BASH_DIR) $(ZSH_DIR) $(FISH_DIR))
	install -m755 $(B)/lockhound $(D)/bin
	install -m644 $(B)/liblockhound.so $(D)/lib/lockhound
	install -m644 preload/lockhound.h $(D)/include
	install -m644 $(B)/libord.a $(D)/lib
	install -m644 $(B)/libord.so $(D)/lib/libord.so.0
	ln -sf libord.so.0 $(D)/lib/libord.so
	install -m644 $(B)/ord.pc $(B)/lockhound.pc $(D)/lib/pkgconfig
	install -m644 $(B)/completion/bash $(D)/$(BASH_DIR)/lockhound
	install -m644 $(B)/completion/zsh $(D)/$(ZSH_DIR)/_lockhound
	install -m644 $(B)/completion/fish $(D)/$(FISH_DIR)/lockhound.fish
	install -m644 examples/ord/ord/*.h $(D)/include/ord
	install -m644 tools/*.1 $(D)/share/man/man1
	install -m644 examples/ord/*.3 $(D)/share/man/man3
	install -m644 tools/*.5 $(D)/share/man/man5

# A Debian package of this build; who gives it to others sets MAINTAINER.
MAINTAINER ?= The lockhound authors <lockhound@example.org>
DEB = $(B)/lockhound_$(VERSION)_$(shell dpkg --print-architecture).deb
deb: all
	rm -rf $(B)/deb $(B)/deb.work
	$(MAKE) --no-print-directory install DESTDIR=$(abspath $(B)/deb) \
	  PREFIX=/usr ZSH_DIR=share/zsh/vendor-completions
	tools/packaging/deb $(abspath $(B)/deb) $(VERSION) \
	  '$(MAINTAINER)' $(DEB)
	@echo $(DEB)

uninstall:
	rm -f $(D)/bin/lockhound $(D)/include/lockhound.h $(D)/lib/libord.a \
	  $(D)/lib/libord.so $(D)/lib/libord.so.0 $(D)/lib/pkgconfig/ord.pc \
	  $(D)/lib/pkgconfig/lockhound.pc $(D)/$(BASH_DIR)/lockhound \
	  $(D)/$(ZSH_DIR)/_lockhound $(D)/$(FISH_DIR)/lockhound.fish \
	  $(patsubst tools/%,$(D)/share/man/man1/%,$(wildcard tools/*.1)) \
	  $(patsubst examples/ord/%,$(D)/share/man/man3/%,$(wildcard examples/ord/*.3)) \
	  $(patsubst tools/%,$(D)/share/man/man5/%,$(wildcard tools/*.5))
	rm -rf $(D)/lib/lockhound $(D)/include/ord

sources = $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' | \
            grep -v ^tests/cases/)
format:
	clang-format -i $(sources)
format-check:
	clang-format --dry-run -Werror $(sources)

# objectIndex takes a member for a local of its name; nullPointerRedundantCheck
# does not know that lh_diag_fail() never returns.
lint:
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr \
	  --enable=warning,portability,performance \
	  --suppress=missingIncludeSystem --suppress=objectIndex \
	  --suppress=nullPointerRedundantCheck -D_GNU_SOURCE -Ipreload \
	  preload/core preload/runtime preload/hooks tools examples
	@for page in tools/*.[15] examples/ord/*.3; do \
	  mandoc -T lint -W warning $$page || exit 1; done

help:
	@echo 'make [all]      the preload, the command and the examples, in $(B)'
	@echo 'make deps       install missing Debian packages (apt-get)'
	@echo 'make demo       run lockhound on an example that never hangs'
	@echo 'make test       every test; its last line counts them'
	@echo 'make test-long  these and what takes minutes or wants the network'
	@echo 'make test-ord   the tests of libord; STRESS_MS=3000 SAN=thread'
	@echo 'make fuzz       each reader with libFuzzer for FUZZ_SECONDS=600'
	@echo 'make test-fuzz  what is kept of that, read once'
	@echo 'make bench      figures, beside the plain program and rivals'
	@echo 'make install    into PREFIX=$(PREFIX), below DESTDIR'
	@echo 'make deb        a Debian package, in $(B)'
	@echo 'make format     clang-format; format-check only looks'
	@echo 'make lint       cppcheck, clang-tidy, mandoc'
	@echo 'Switches: WERROR=1  SAN=address,undefined  SAN=thread  COV=1'

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
