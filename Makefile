# SPDX-License-Identifier: BSD-2-Clause
#
# One Makefile for everything. `make help` lists the targets.
#
# Objects of a variant live in build/<variant>/obj, what is installed in build/<variant>/bin and
# build/<variant>/lib/whatif: the same shape as below PREFIX, so that an uninstalled tree just works.

VARIANT ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
CXX     ?= g++
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

# ---- flags -----------------------------------------------------------------------------------------

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo unknown)

WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wvla -Wundef
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

# The agent runs inside other people's programs: never instrumented, nothing exported by accident.
AGENT_OPT := -O2 -g
AGENT_CFLAGS := $(CSTD) $(CWARN) $(AGENT_OPT) -fPIC -fvisibility=hidden -ftls-model=initial-exec \
                -fno-omit-frame-pointer -fno-stack-protector -fcf-protection=none
TOOL_CFLAGS   := $(CSTD) $(CWARN) $(OPT) -fPIE $(CFLAGS)
TOOL_CXXFLAGS := $(CXXSTD) $(WARN) $(OPT) -fPIE -fvisibility=hidden $(CXXFLAGS)

LIBS := -ljansson -lcrypto -ldw -lelf -lcurl -lmicrohttpd -lz -lzstd -llzma -liberty -lunwind-generic -lpthread -ldl -lm
ELFIN := -Wl,-Bstatic -ldwarf++ -lelf++ -Wl,-Bdynamic -static-libstdc++ -static-libgcc

# ---- sources: a folder is a component --------------------------------------------------------------

SESSION_SRC := $(wildcard runtime/session/*.c)
AGENT_SRC   := $(wildcard runtime/agent/*.c runtime/agent/signal/*.c runtime/agent/interpose/*.c) $(SESSION_SRC)
CORE_SRC    := $(SESSION_SRC) $(wildcard runtime/symbols/*.c runtime/control/*.c runtime/profile/*.c)
CORE_CXX    := $(wildcard runtime/symbols/*.cc)
VIEW_SRC    := $(wildcard viewer-export/*/*.c)
MAIN_SRC    := runtime/launcher/main.c
LAUNCH_SRC  := $(filter-out $(MAIN_SRC),$(wildcard runtime/launcher/*.c))

AGENT_OBJ := $(AGENT_SRC:%.c=$(O)/agent/%.o)
TOOL_OBJ  := $(CORE_SRC:%.c=$(O)/tool/%.o) $(CORE_CXX:%.cc=$(O)/tool/%.o) $(VIEW_SRC:%.c=$(O)/tool/%.o) \
             $(LAUNCH_SRC:%.c=$(O)/tool/%.o)
MAIN_OBJ  := $(MAIN_SRC:%.c=$(O)/tool/%.o)

AGENT  := $(B)/lib/whatif/libwhatif-agent.so
WHATIF := $(B)/bin/whatif
LIBTOOL_A := $(O)/libwhatif-tool.a

.PHONY: all help
all: $(AGENT) $(WHATIF)

# ---- agent -----------------------------------------------------------------------------------------

$(O)/agent/%.o: %.c
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(AGENT_CFLAGS) -c -o $@ $<

$(AGENT): $(AGENT_OBJ) runtime/agent/exports.map
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ $(AGENT_OBJ) -Wl,--version-script=runtime/agent/exports.map -Wl,-z,now \
	    -Wl,-z,nodelete -Wl,--no-undefined -Wl,-soname,libwhatif-agent.so

# ---- launcher and viewers --------------------------------------------------------------------------

$(O)/tool/%.o: %.c
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

$(O)/tool/%.o: %.cc
	$(say) CXX '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(TOOL_CXXFLAGS) -c -o $@ $<

$(LIBTOOL_A): $(TOOL_OBJ)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $(TOOL_OBJ)

$(WHATIF): $(MAIN_OBJ) $(LIBTOOL_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(OPT) -pie -o $@ $(MAIN_OBJ) $(LIBTOOL_A) $(ELFIN) $(LIBS)

-include $(AGENT_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(MAIN_OBJ:.o=.d)

# ---- the rest: each file says at its top what it adds ------------------------------------------------

include $(sort $(wildcard tests/tests.mk benchmarks/benchmarks.mk docs/docs.mk))
