# SPDX-License-Identifier: BSD-2-Clause
#
# One Makefile for everything. `make help` lists the targets.
#
# Objects of a variant live in build/<variant>/obj, what is installed in build/<variant>/bin and
# build/<variant>/lib/whatif: the same shape as below PREFIX, so that an uninstalled tree just works.
#
# Nothing is rebuilt by hand: the compilers write down which headers they read (-MMD), a changed flag, compiler or
# list of sources is noticed by a stamp (see `stamp` below), and only the launcher depends on the version.

VARIANT ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC  := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
AR  ?= ar
PKG_CONFIG ?= pkg-config

B := build/$(VARIANT)
O := $(B)/obj

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# ---- flags -----------------------------------------------------------------------------------------

VERSION := $(shell cat VERSION)$(shell test -e .git && git rev-parse --short HEAD 2>/dev/null | sed 's/^/+g/')

WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wvla -Wundef $(if $(WERROR),-Werror)
CWARN    := $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
CPPFLAGS += -D_GNU_SOURCE -I. -Iinclude -MMD -MP
OPT_release  := -O2 -g
OPT_debug    := -O0 -g3
OPT_asan     := -O1 -g -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan    := -O1 -g -fsanitize=undefined -fno-sanitize-recover=undefined
OPT_tsan     := -O1 -g -fsanitize=thread
OPT_coverage := -O0 -g --coverage
OPT := $(OPT_$(VARIANT))
ifeq ($(OPT),)
$(error unknown VARIANT '$(VARIANT)': release, debug, asan, ubsan, tsan or coverage)
endif
CSTD   := -std=gnu17
CXXSTD := -std=gnu++17

# The agent runs inside other people's programs: never instrumented, and nothing exported by accident. What is exported
# is said in one place, runtime/agent/exports.map; -fvisibility=hidden would hide the functions that replace libc's.
AGENT_BASE   := $(CSTD) $(CWARN) -fPIC -fno-semantic-interposition -ftls-model=initial-exec -fno-omit-frame-pointer \
                -fno-stack-protector -fcf-protection=none
AGENT_CFLAGS := $(AGENT_BASE) -O2 -g
TOOL_CFLAGS   := $(CSTD) $(CWARN) $(OPT) -fPIE $(CFLAGS)
TOOL_CXXFLAGS := $(CXXSTD) $(WARN) $(OPT) -fPIE -fvisibility=hidden $(CXXFLAGS)

LIBS := -Wl,--as-needed -ljansson -lcrypto -ldw -lelf -lcurl -lmicrohttpd -lz -lzstd -llzma -liberty -lunwind-generic -lpthread -ldl -lm
ELFIN := -Wl,-Bstatic -ldwarf++ -lelf++ -Wl,-Bdynamic -static-libstdc++ -static-libgcc

# ---- sources: a folder is a component --------------------------------------------------------------

SESSION_SRC := $(wildcard runtime/session/*.c)
AGENT_SRC   := $(wildcard runtime/agent/*.c runtime/agent/signal/*.c runtime/agent/interpose/*.c) $(SESSION_SRC)
CORE_SRC    := $(SESSION_SRC) $(wildcard runtime/symbols/*.c runtime/control/*.c runtime/profile/*.c)
CORE_CXX    := $(wildcard runtime/symbols/*.cc)
VIEW_SRC    := $(wildcard viewer-export/*.c viewer-export/*/*.c)
MAIN_SRC    := runtime/launcher/main.c
LAUNCH_SRC  := $(filter-out $(MAIN_SRC),$(wildcard runtime/launcher/*.c))

AGENT_OBJ := $(AGENT_SRC:%.c=$(O)/agent/%.o)
TOOL_OBJ  := $(CORE_SRC:%.c=$(O)/tool/%.o) $(CORE_CXX:%.cc=$(O)/tool/%.o) $(VIEW_SRC:%.c=$(O)/tool/%.o) \
             $(LAUNCH_SRC:%.c=$(O)/tool/%.o)
MAIN_OBJ  := $(MAIN_SRC:%.c=$(O)/tool/%.o)

AGENT  := $(B)/lib/whatif/libwhatif-agent.so
WHATIF := $(B)/bin/whatif
LIBTOOL_A := $(O)/libwhatif-tool.a
DEMO   := $(B)/benchmarks/demo

# ---- stamps: files that change when what they record does ---------------------------------------------

# $(call stamp,NAME,TEXT): keep TEXT in $(O)/NAME.stamp, touching it only if TEXT has changed.
same  = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
stamp = $(call stamp_,$(O)/$(1).stamp,$(strip $(1): $(2)))
stamp_ = $(if $(call same,$(strip $(file <$(1))),$(2)),,$(shell mkdir -p $(O))$(file >$(1),$(2)))

BUILDLESS := help clean deps build-deps release debug asan ubsan tsan coverage coverage-report check demo format lint uninstall
ifneq ($(if $(MAKECMDGOALS),$(filter-out $(BUILDLESS),$(MAKECMDGOALS)),all),)
$(call stamp,flags,$(CC) $(CXX) $(CPPFLAGS) $(AGENT_CFLAGS) $(TOOL_CFLAGS) $(TOOL_CXXFLAGS) $(LDFLAGS) $(LIBS) $(ELFIN))
$(call stamp,agent-objects,$(AGENT_OBJ))
$(call stamp,tool-objects,$(TOOL_OBJ))
$(call stamp,version,$(VERSION))
endif

# ---- build -----------------------------------------------------------------------------------------

.PHONY: all release debug asan ubsan tsan coverage clean help
all: $(AGENT) $(WHATIF) ## build the launcher and the agent (VARIANT=release unless you say otherwise)

release debug asan ubsan tsan coverage: ## build that variant, into build/<variant>
	$(Q)$(MAKE) VARIANT=$@ all

clean: ## remove everything that was built
	rm -rf build

$(O)/agent/%.o: %.c $(O)/flags.stamp
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(AGENT_CFLAGS) -c -o $@ $<

$(AGENT): $(AGENT_OBJ) runtime/agent/exports.map $(O)/agent-objects.stamp
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ $(AGENT_OBJ) -Wl,--version-script=runtime/agent/exports.map -Wl,-z,now \
	    -Wl,-z,nodelete -Wl,--no-undefined -Wl,-soname,libwhatif-agent.so

$(O)/tool/runtime/launcher/%.o: CPPFLAGS += -DWHATIF_VERSION='"$(VERSION)"'
$(LAUNCH_SRC:%.c=$(O)/tool/%.o) $(MAIN_OBJ): $(O)/version.stamp

$(O)/tool/%.o: %.c $(O)/flags.stamp
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

$(O)/tool/%.o: %.cc $(O)/flags.stamp
	$(say) CXX '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(TOOL_CXXFLAGS) -c -o $@ $<

$(LIBTOOL_A): $(TOOL_OBJ) $(O)/tool-objects.stamp
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(TOOL_OBJ)

$(WHATIF): $(MAIN_OBJ) $(LIBTOOL_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(OPT) -pie -o $@ $(MAIN_OBJ) $(LIBTOOL_A) $(LDFLAGS) $(ELFIN) $(LIBS)

-include $(AGENT_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(MAIN_OBJ:.o=.d)

# ---- demo ------------------------------------------------------------------------------------------

# As a user would build it: none of our flags.
$(DEMO): benchmarks/demo/demo.c include/whatif.h
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -pthread -Iinclude -o $@ $<

.PHONY: demo run-demo
demo: build-deps ## install what the build needs, build, profile the bundled program for 20 s, print the report
	$(Q)$(MAKE) run-demo

run-demo: all $(DEMO)
	$(WHATIF) run -o demo.whatif -- $(DEMO) 20
	@echo "The profile is demo.whatif: '$(WHATIF) report demo.whatif' prints this again."

# ---- install ---------------------------------------------------------------------------------------

MAN_PAGES := $(wildcard docs/man/*.1)
# Debian's coz-profiler owns PREFIX/include/coz.h; ours stays out of its way in a directory of its own, and
# `pkg-config --cflags whatif-coz` puts that directory first.
INSTALLED := bin/whatif lib/whatif/libwhatif-agent.so include/whatif.h include/whatif/coz.h \
             lib/pkgconfig/whatif.pc lib/pkgconfig/whatif-coz.pc $(MAN_PAGES:docs/man/%=share/man/man1/%)
TO := $(DESTDIR)$(PREFIX)

.PHONY: install uninstall
install: all ## install below DESTDIR/PREFIX (PREFIX=/usr/local)
	$(Q)install -d $(addprefix '$(TO)'/,$(sort $(dir $(INSTALLED))))
	$(Q)install -m 755 $(WHATIF) '$(TO)/bin/'
	$(Q)install -m 755 $(AGENT) '$(TO)/lib/whatif/'
	$(Q)install -m 644 include/whatif.h '$(TO)/include/'
	$(Q)install -m 644 include/coz.h '$(TO)/include/whatif/'
	$(Q)install -m 644 $(MAN_PAGES) '$(TO)/share/man/man1/'
	$(Q)for pc in whatif whatif-coz; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' docs/$$pc.pc.in \
	        >'$(TO)/lib/pkgconfig/'$$pc.pc && chmod 644 '$(TO)/lib/pkgconfig/'$$pc.pc || exit 1; done
	@printf 'installed:\n' && printf '  %s\n' $(addprefix '$(TO)'/,$(INSTALLED))

uninstall: ## remove what install put there
	rm -f $(addprefix '$(TO)'/,$(INSTALLED))
	-rmdir --ignore-fail-on-non-empty '$(TO)/lib/whatif' '$(TO)/include/whatif' 2>/dev/null

# ---- packages: Debian's names ------------------------------------------------------------------------

BUILD_PACKAGES := gcc g++ binutils libc6-dev make pkg-config libelfin-dev libdw-dev libelf-dev libunwind-dev \
                  libjansson-dev libcurl4-openssl-dev libmicrohttpd-dev zlib1g-dev libzstd-dev libssl-dev \
                  liblzma-dev libiberty-dev
TEST_PACKAGES  := check perl python3 clang lld llvm gfortran dwz xz-utils coz-profiler groff-base git

.PHONY: deps build-deps
deps: ## install the Debian packages that build and tests need (through sudo when not root)
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)

build-deps: ## the same, only for the build
	@.ci/deps $(BUILD_PACKAGES)

# ---- how the code looks --------------------------------------------------------------------------------

C_FILES = $(shell find include runtime viewer-export tests benchmarks -name '*.[ch]' -o -name '*.cc')
SCRIPTS = $(shell grep -rlE '^\#!/bin/(ba)?sh' .ci tests benchmarks) tests/lib/tap.sh

.PHONY: format lint
format: ## lay out the C and C++ files with clang-format
	clang-format -i $(C_FILES)

lint: ## clang-format (check only), shellcheck, and cppcheck where it is installed
	clang-format --dry-run --Werror $(C_FILES)
	shellcheck -x $(SCRIPTS)
	if command -v cppcheck >/dev/null; then \
	    cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
	        --suppress=missingIncludeSystem -D_GNU_SOURCE -I. -Iinclude runtime viewer-export; fi

# ---- the rest: each file says at its top what it adds ------------------------------------------------

include $(sort $(wildcard tests/tests.mk benchmarks/benchmarks.mk docs/docs.mk))

help: ## this list
	@echo "make [VARIANT=release|debug|asan|ubsan|tsan|coverage] [V=1] [WERROR=1] [TARGET...]"
	@awk -F ':.*## ' '/^[a-z][a-z -]*:.*## / { \
	    if (length($$1) > 14) { print "  " $$1; $$1 = "" } printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
