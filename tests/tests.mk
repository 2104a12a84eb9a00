# SPDX-License-Identifier: BSD-2-Clause
# make test: unit tests (Check) and integration tests (TAP), both under prove.

CHECK_LIBS := $(shell $(PKG_CONFIG) --libs check 2>/dev/null)
T := $(B)/tests

# A unit test is one file, tests/unit/test_NAME.c. Those of the agent (test_agent_NAME.c) link the agent's
# objects, all others the launcher's.
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
UNIT_AGENT := $(filter tests/unit/test_agent_%,$(UNIT_SRC))
UNIT_TOOL  := $(filter-out $(UNIT_AGENT),$(UNIT_SRC))
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(T)/unit/%)

$(O)/test/%.o: tests/%.c
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CSTD) $(CWARN) $(OPT) -Wno-missing-prototypes -c -o $@ $<

$(UNIT_TOOL:tests/unit/%.c=$(T)/unit/%): $(T)/unit/%: $(O)/test/unit/%.o $(LIBTOOL_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(OPT) -o $@ $< $(LIBTOOL_A) $(ELFIN) $(LIBS) $(CHECK_LIBS)

# The walker is pure: its test links it alone.
$(T)/unit/test_agent_walk: $(O)/test/unit/test_agent_walk.o $(O)/agent/runtime/agent/signal/walk.o
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPT) -o $@ $^ $(CHECK_LIBS)

-include $(UNIT_SRC:tests/%.c=$(O)/test/%.d)

.PHONY: unit
unit: $(UNIT_BIN)
	$(Q)set -e; for t in $(sort $(UNIT_BIN)); do $$t; done
