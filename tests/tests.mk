# SPDX-License-Identifier: BSD-2-Clause
#
# Tests: unit tests (Check) and everything else (TAP scripts), all of them under prove; see tests/run.
#
#   tests/unit/test_NAME.c     one program each, linked with the launcher's objects
#   tests/unit/test_agent_*.c  linked with the agent's objects instead, of which only those that are called are taken
#   tests/check-NAME           what holds of the tree as a whole: exports, imports, includes, headers, text
#   tests/integration/*.t      run the built programs
#   tests/integration/NAME.c   helpers of theirs, linked with the launcher's objects: build/<variant>/tests/integration/NAME
#   tests/subjects/NAME.c      programs to be profiled by them: built by benchmarks/benchmarks.mk

CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check)
T := $(B)/tests

UNIT_SRC   := $(wildcard tests/unit/test_*.c)
UNIT_AGENT := $(filter tests/unit/test_agent_%,$(UNIT_SRC))
UNIT_TOOL  := $(filter-out $(UNIT_AGENT),$(UNIT_SRC))
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(T)/unit/%)

TAP_CHECKS      := $(filter-out %~,$(wildcard tests/check-*))
TAP_INTEGRATION := $(wildcard tests/integration/*.t)

# ---- unit tests --------------------------------------------------------------------------------------

$(O)/test/%.o: tests/%.c $(O)/flags.stamp
	$(say) CC '$<'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CSTD) $(CWARN) $(OPT) -fPIE -Wno-missing-prototypes -c -o $@ $<

$(UNIT_TOOL:tests/unit/%.c=$(T)/unit/%): $(T)/unit/%: $(O)/test/unit/%.o $(LIBTOOL_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(OPT) -o $@ $< $(LIBTOOL_A) $(ELFIN) $(CHECK_LIBS) $(LIBS)

# The agent's objects once more, this time instrumented as the variant says: nothing preloads these.
AGENT_UNIT_OBJ := $(AGENT_SRC:%.c=$(O)/agent-unit/%.o)
AGENT_UNIT_A   := $(O)/libwhatif-agent-unit.a

$(O)/agent-unit/%.o: %.c $(O)/flags.stamp
	$(say) CC '$< (for unit tests)'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(AGENT_BASE) $(OPT) -c -o $@ $<

$(AGENT_UNIT_A): $(AGENT_UNIT_OBJ) $(O)/agent-objects.stamp
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(AGENT_UNIT_OBJ)

$(UNIT_AGENT:tests/unit/%.c=$(T)/unit/%): $(T)/unit/%: $(O)/test/unit/%.o $(AGENT_UNIT_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPT) -o $@ $< $(AGENT_UNIT_A) $(CHECK_LIBS) -lm

# ---- programs that integration and fuzz tests run: one file each, linked with the launcher's objects -------

HELPER_SRC := $(wildcard tests/integration/*.c tests/fuzz/*.c)
HELPER_BIN := $(HELPER_SRC:tests/%.c=$(T)/%)

$(HELPER_BIN): $(T)/%: $(O)/test/%.o $(LIBTOOL_A)
	$(say) LINK '$@'
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(OPT) -o $@ $< $(LIBTOOL_A) $(ELFIN) $(LIBS)

-include $(UNIT_SRC:tests/%.c=$(O)/test/%.d) $(HELPER_SRC:tests/%.c=$(O)/test/%.d) $(AGENT_UNIT_OBJ:.o=.d)

# ---- running them ------------------------------------------------------------------------------------

RUN_TESTS = TEST_BUILD=$(B) CC='$(CC)' CXX='$(CXX)' tests/run

.PHONY: check test unit integration structure tests coverage-report update-symbol-lists
check: deps ## packages, build, all tests; ends with `N passed, N failed, N skipped`
	$(Q)rm -f $(T)/summary
	$(Q)$(MAKE) test

tests: all $(UNIT_BIN) $(HELPER_BIN) $(DEMO) subjects subjects-coz ## build the tests without running them

test: tests ## all tests, without looking at the packages
	$(Q)$(RUN_TESTS) $(sort $(UNIT_BIN)) $(TAP_CHECKS) $(TAP_INTEGRATION)

unit: $(UNIT_BIN) ## the unit tests
	$(Q)$(RUN_TESTS) $(sort $(UNIT_BIN))

integration: tests ## the tests that run the built programs
	$(Q)$(RUN_TESTS) $(TAP_INTEGRATION)

structure: tests ## the checks of the tree: exports, imports, includes, headers, text
	$(Q)$(RUN_TESTS) $(TAP_CHECKS)

coverage-report: ## which share of each file's lines the unit tests run
	$(Q)$(MAKE) VARIANT=coverage unit
	$(Q)cd build/coverage/obj && find agent-unit tool -name '*.gcda' -exec gcov -n {} + 2>/dev/null | \
	    awk -F "[':% ]+" '/^File/ { file = $$2 } /^Lines/ && file ~ /^(runtime|viewer-export)/ { \
	        if ($$3 + 0 > best[file] + 0 || !(file in best)) best[file] = $$3 } \
	        END { for (file in best) printf "%6.1f %%  %s\n", best[file], file }' | sort -k3

update-symbol-lists: $(AGENT) ## write tests/agent-exports.txt anew from the agent as it is
	$(Q)tests/check-exports --print >tests/agent-exports.txt
