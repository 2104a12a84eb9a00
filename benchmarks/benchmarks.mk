# SPDX-License-Identifier: BSD-2-Clause
# Subjects (small programs with known answers) and the benchmarks that judge the profiler by them.
#
#   make subjects          build/<variant>/subjects/NAME, and NAME-coz against the coz-profiler package's header
#   make bench-accuracy    predicted gains beside formula and real ones      (ARGS="--case joined --coz")
#   make bench-overhead    what sampling, a profile and the interposed calls cost
#   make bench-real        a compressor from Debian's sources, profiled

SUBJECTS_DIR := $(B)/subjects
SUBJECT_SRC  := $(wildcard tests/subjects/*.c)
SUBJECT_BIN  := $(SUBJECT_SRC:tests/subjects/%.c=$(SUBJECTS_DIR)/%) $(SUBJECTS_DIR)/micro
SUBJECT_COZ  := $(addsuffix -coz,$(SUBJECT_BIN))

# As a user builds: optimised, default debug information. In every variant: a sanitizer would be what is measured.
SUBJECT_CFLAGS := $(CSTD) -Wall -Wextra -O2 -g
# The package's own header, not include/coz.h; and the debug information that its reader accepts.
SUBJECT_COZ_CFLAGS := $(CSTD) -Wall -Wextra -O2 -gdwarf-4 -gno-variable-location-views -DUSE_COZ

define subject_rules
$(SUBJECTS_DIR)/%: $(1)/%.c
	$(say) SUBJECT '$$@'
	$(Q)mkdir -p $$(@D)
	$(Q)$(CC) -D_GNU_SOURCE -Iinclude -MMD -MP -MF $$@.d $(SUBJECT_CFLAGS) -o $$@ $$< -pthread

$(SUBJECTS_DIR)/%-coz: $(1)/%.c
	$(say) SUBJECT '$$@'
	$(Q)mkdir -p $$(@D)
	$(Q)$(CC) -D_GNU_SOURCE -MMD -MP -MF $$@.d $(SUBJECT_COZ_CFLAGS) -o $$@ $$< -pthread -ldl
endef
$(eval $(call subject_rules,tests/subjects))
$(eval $(call subject_rules,benchmarks/overhead))

-include $(SUBJECT_BIN:=.d) $(SUBJECT_COZ:=.d)

.PHONY: subjects subjects-coz bench-accuracy bench-overhead bench-real
subjects: $(SUBJECT_BIN)
subjects-coz: $(SUBJECT_COZ)

bench-accuracy: all subjects $(if $(findstring --coz,$(ARGS)),subjects-coz)
	$(Q)benchmarks/accuracy/run --build $(B) $(ARGS)

bench-overhead: all subjects $(if $(findstring --no-coz,$(ARGS)),,subjects-coz)
	$(Q)benchmarks/overhead/run --build $(B) $(ARGS)

bench-real: all
	$(Q)benchmarks/real/run --build $(B) $(ARGS)
