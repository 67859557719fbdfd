# make                          the program, prescient-bench and the bundled jobs, in build/
# make check [T=slot] [NIGHT=1] [KIND=suites]   the quick tests, or suites and scripts whose name
#                               contains T; NIGHT=1: those that take long or judge time, too; KIND:
#                               only the suites, or only the scripts (tests/README.md)
# make check PG=13              the same on another PostgreSQL: 13, 15 or 17 (tests/pg_release.sh)
# make SANITIZE=address,undefined check     the same under sanitizers, in a build folder of its own
# make faults [ONLY=F06] [SEED=N] [QUICK=1] the campaign of faults (tests/faults/README.md)
# make sim [SEED=n | SEEDS=n FROM=n]        simulated worlds: one with its story, or many
#                               (tests/sim/README.md)
# make model [PART=quick]       every state of the protocol, in a small world
#                               (tests/model/README.md)
# make fuzz | fuzz-corpus       see tests/fuzz/README.md
# make drivers                  the SQL API from each language whose driver is here
#                               (tests/drivers/README.md)
# make night [ONLY="valgrind faults"]       all that takes hours, restartable (tests/night.sh)
# make planted                  bugs are put into a copy of the engine; the campaign must catch each
# make -j2 analyze | analyze-quick          three analyzers (tests/analyze/analyze.mk)
# make storm [SECONDS=1800] [SEED=N] [STORES=sqlite]    all faults at once, 200,000 checks
# make measures                what fails when a measured promise is broken (bench/night.sh)
# make install | uninstall [DESTDIR= PREFIX= bindir=...]    or its folders one by one (install.mk)
# make dist                     the last commit, in build/prescient-VERSION.tar.gz
# make deb                      its Debian packages, in build/deb (README; tests/packages.sh)
# make coverage | valgrind | fmt | clean
# Lists are wildcards: a new module, command, job, migration or test needs no edit here.

PREFIX ?= /usr/local
BUILD ?= build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))$(if $(COVERAGE),-coverage)
comma := ,
PKGS := libpq sqlite3 libconfig jansson nettle hogweed
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS))
VERSION := $(shell sed -n 's/^## \([0-9][^ ]*\).*/\1/p' CHANGELOG.md 2>/dev/null | head -1)

CC ?= cc
# Sanitized code is compiled for the stacks that it prints: that takes a quarter less time. Without
# an optimizer one of the warnings guesses wrongly; the other build asks for it.
OPT ?= $(if $(SANITIZE),-O0 -g1,$(if $(COVERAGE),-O1,-O2) -g)
WARN := -Wall -Wextra -Werror=incompatible-pointer-types -Werror=int-conversion -Wshadow \
  -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla -Wwrite-strings $(WERROR)
# The flags that this compiler supports and that turn a wild write or a stack overrun into an abort.
# Without -ftrivial-auto-var-init: it would hide from memcheck what memcheck looks for.
# tests/hardened.sh checks that the built files have all of it.
takes = $(if $(shell $(CC) -O2 -U_FORTIFY_SOURCE $(1) -Werror -include stdio.h -x c -S -o /dev/null \
  /dev/null 2>&1),,$(1))
CONTROL_FLOW := $(call takes,-fcf-protection)
FORTIFY := -U_FORTIFY_SOURCE $(or $(call takes,-D_FORTIFY_SOURCE=3),-D_FORTIFY_SOURCE=2)
PROTECT := -fstack-protector-strong $(call takes,-fstack-clash-protection) $(CONTROL_FLOW) \
  $(if $(SANITIZE)$(COVERAGE),,$(FORTIFY))
LINK_PROTECT := -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed$(if $(CONTROL_FLOW),$(comma)-z$(comma)shstk)
INSTRUMENT := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer \
  -Wno-format-truncation) \
  $(if $(COVERAGE),--coverage -fprofile-update=atomic)
# What sanitizers know of each place in the code is a third of the program. At a fixed address none
# of it is relocated when a process starts: a quarter of what a small suite takes.
PLACED := $(if $(SANITIZE),-fno-pie,-fPIE)
CFLAGS_ALL = -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) $(PLACED) $(PROTECT) $(INSTRUMENT) -Iinclude -iquote . \
  -iquote $(BUILD)/sql -DVERSION='"$(VERSION)"' $(PLACES) \
  $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(if $(SANITIZE),-no-pie,-pie) $(LINK_PROTECT) $(INSTRUMENT) $(LDFLAGS)
# The program loads libpq when it needs it (engine/pg/libpq.h); bench and tests call more of it.
LIBS := $(shell pkg-config --libs $(filter-out libpq,$(PKGS))) -lhttp_parser -ldl -lm
LIBPQ := $(shell pkg-config --libs libpq)

ENGINE := $(filter-out engine/main.c,$(wildcard engine/*/*.c))
BENCH := $(wildcard bench/bench_*.c)
BENCH_SQL := $(wildcard bench/bench_*.sql)
PAGES := $(sort $(wildcard engine/http/pages/*))
MIGRATIONS := $(wildcard migrations/*/*.sql)
SQL := $(wildcard engine/*/*.sql) $(MIGRATIONS)
# Those whose statements declare their parameters.
DIALECTS := $(patsubst engine/store/store_%.sql,%,$(shell grep -l '^-- in: ' engine/store/store_*.sql))
OPENAPI := $(sort $(wildcard engine/http/openapi/*.json))
COMMANDS := $(sort $(wildcard engine/cmd/cmd_*.c))
TESTS := $(sort $(wildcard tests/test_*.c))
PLUGINS := $(filter-out shared,$(patsubst jobs/%/,%,$(wildcard jobs/*/)))
JOBS := $(PLUGINS:%=$(BUILD)/jobs/%.so)
# A plug-in has in jobs/NAME/shared which folders of jobs/shared/ it takes, a line each. It and they
# have in `libraries` what they need: names for pkg-config, or -lNAME where a library has none.
shared = $(if $(wildcard jobs/$(1)/shared),$(shell cat jobs/$(1)/shared))
folders = jobs/$(1) $(addprefix jobs/shared/,$(call shared,$(1)))
sources = $(foreach f,$(call folders,$(1)),$(wildcard $(f)/*.[ch]))
libraries = $(sort $(shell cat /dev/null $(wildcard $(addsuffix /libraries,$(call folders,$(1))))))
links = $(shell $(CC) -shared -x c /dev/null $(1) -o /dev/null 2>/dev/null || echo $(1:-l%=lib%))
unknown = $(if $(filter -l%,$(1)),$(call links,$(1)),$(shell pkg-config --exists $(1) || echo $(1)))
missing = $(strip $(foreach l,$(call libraries,$(1)),$(call unknown,$(l))))
# Names for pkg-config, of libraries that are taken, all together, where they are; WITH_OPTIONAL is
# defined then.
optional = $(foreach f,$(wildcard jobs/$(1)/libraries.optional),$(shell pkg-config --exists $$(cat $(f)) && \
  cat $(f)))
library_flags = $(filter -l%,$(1)) $(if $(filter-out -l%,$(1)),\
  $(shell pkg-config --libs $(filter-out -l%,$(1))))
LEFT_OUT := $(foreach j,$(PLUGINS),$(if $(call missing,$(j)),$(j)))
# What a plug-in is linked of. Shared files are compiled once: all have the flags of all libraries.
parts = $(if $(filter $(1),$(LEFT_OUT)),jobs/left_out.c,\
  $(patsubst jobs/%.c,$(BUILD)/plugins/%.o,$(filter %.c,$(call sources,$(1)))))
JOB_PKGS := $(sort $(filter-out -l%,$(foreach j,$(filter-out $(LEFT_OUT),$(PLUGINS)),\
  $(call libraries,$(j)) $(call optional,$(j)))))
JOB_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) -fPIC -fvisibility=hidden $(PROTECT) $(INSTRUMENT) \
  -Iinclude $(if $(JOB_PKGS),$(shell pkg-config --cflags $(JOB_PKGS)))
TEST_JOBS := $(patsubst tests/jobs/%.c,$(BUILD)/tests/jobs/%.so,$(wildcard tests/jobs/*.c))
MODEL_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/model/*.c))
SIM_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/sim/*.c))
ENGINE_O := $(ENGINE:%.c=$(BUILD)/%.o) $(BUILD)/embedded_sql.o $(BUILD)/command_table.o \
  $(BUILD)/openapi_text.o $(BUILD)/page_table.o $(DIALECTS:%=$(BUILD)/sql/%_statements.o)
COMMANDS_O := $(COMMANDS:%.c=$(BUILD)/%.o) $(BUILD)/command_table.o
BENCH_O := $(BENCH:%.c=$(BUILD)/%.o) $(BUILD)/bench_sql.o $(filter-out $(COMMANDS_O),$(ENGINE_O))
TESTS_O := $(patsubst %.c,$(BUILD)/%.o,$(TESTS) $(filter-out $(TESTS),$(wildcard tests/*.c))) \
  $(BUILD)/suite_table.o

all: $(BUILD)/prescient $(BUILD)/prescient-bench $(JOBS) left-out

left-out:
	@:$(foreach j,$(LEFT_OUT),; echo "jobs/$(j) is left out: there is no $(call missing,$(j))")

$(BUILD)/prescient: $(BUILD)/engine/main.o $(ENGINE_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# What `prescient bench` starts: on the engine's objects, with one command, its own.
$(BUILD)/prescient-bench: $(BENCH_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(LIBPQ)

# The same program with failpoints (engine/base/failpoint.h): only their files are compiled again.
FAILPOINTS := $(shell grep -l 'base/failpoint.h\|"failpoint.h"' engine/*/*.c)

WITHOUT_FAILPOINTS := $(filter-out $(FAILPOINTS:%.c=$(BUILD)/%.o),$(BUILD)/engine/main.o $(ENGINE_O))

$(BUILD)/prescient-failpoints: $(FAILPOINTS:%.c=$(BUILD)/failpoints/%.o) $(WITHOUT_FAILPOINTS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(BUILD)/failpoints/%.o: %.c $(BUILD)/flags | $(DIALECTS:%=$(BUILD)/sql/%_statements.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DPRESCIENT_FAILPOINTS -MMD -MP -c -o $@ $<

# What tests do to memory is looked at. That their own sums do not overflow is not: it took a sixth
# of compiling them. It is where a test has code of a job in it.
OF_JOBS := $(shell grep -l '#include ".*\.c"' tests/*.c)
$(filter-out $(OF_JOBS:%.c=$(BUILD)/%.o),$(TESTS_O)): \
  private CFLAGS_ALL += $(if $(SANITIZE),-fno-sanitize=undefined)

$(BUILD)/test: $(TESTS_O) $(ENGINE_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(LIBPQ) $(shell pkg-config --libs cunit)

$(BUILD)/sim: $(SIM_O) $(ENGINE_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(BUILD)/model: $(MODEL_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

# Written only when their contents change: other flags or PREFIX, a file that came or went.
$(BUILD)/flags: SAYS = $(CC) $(CFLAGS_ALL)
$(BUILD)/lists: SAYS = $(SQL) $(BENCH_SQL) $(COMMANDS) $(TESTS) $(OPENAPI) $(PAGES)
$(BUILD)/left_out: SAYS = $(LEFT_OUT) $(foreach j,$(PLUGINS),$(call optional,$(j)))
$(BUILD)/flags $(BUILD)/lists $(BUILD)/left_out: FORCE
	@mkdir -p $(@D); says="$(subst ",,$(subst ',,$(SAYS)))"; \
	  echo "$$says" | cmp -s - $@ || echo "$$says" > $@

$(BUILD)/%.o: %.c $(BUILD)/flags | $(DIALECTS:%=$(BUILD)/sql/%_statements.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags
	$(CC) $(CFLAGS_ALL) -I. -MMD -MP -c -o $@ $<

# A struct for each statement's parameters and columns, and in build/sql/DIALECT/ each statement as
# psql -f takes it.
$(BUILD)/sql/%_statements.h $(BUILD)/sql/%_statements.c: engine/store/statements.awk \
    engine/store/store_%.sql engine/rules/pass_counts.h $(SQL) $(MIGRATIONS:%=$(BUILD)/sql/%) $(BUILD)/lists
	@rm -rf $(@D)/$* && mkdir -p $(@D)/$*
	awk -v dialect=$* -v out=$(@D) -f $< $(filter $(BUILD)/sql/migrations/$*/%,$^) \
	  engine/rules/pass_counts.h engine/store/store_$*.sql

# What a migration has once for several types of arguments is written out.
$(BUILD)/sql/migrations/%.sql: migrations/%.sql engine/store/schema.awk
	@mkdir -p $(@D)
	awk -f engine/store/schema.awk $< > $@.tmp && mv $@.tmp $@

# SQL is read as SQL; the build turns each block and each migration into a string.
$(BUILD)/embedded_sql.c: engine/store/embed_sql.awk $(MIGRATIONS:%=$(BUILD)/sql/%) \
    $(filter-out $(MIGRATIONS) $(DIALECTS:%=engine/store/store_%.sql),$(SQL)) $(BUILD)/lists
	@mkdir -p $(@D)
	awk -f $< $(filter %.sql,$^) > $@.tmp && mv $@.tmp $@

$(BUILD)/bench_sql.c: engine/store/embed_sql.awk $(BENCH_SQL) $(BUILD)/lists
	@mkdir -p $(@D)
	awk -f $< $(BENCH_SQL) > $@.tmp && mv $@.tmp $@

# What GET /v1/openapi.json answers; its parts are JSON, a subject each.
$(BUILD)/openapi_text.c: engine/http/embed_openapi.awk $(OPENAPI) $(BUILD)/lists $(BUILD)/flags
	@mkdir -p $(@D)
	awk -v version='$(VERSION)' -f $< $(OPENAPI) > $@.tmp && mv $@.tmp $@

# The dashboard is files for browsers; the build makes them part of the program.
$(BUILD)/page_table.c: engine/http/embed_pages.awk $(PAGES) $(BUILD)/lists
	@mkdir -p $(@D)
	sha256sum $(PAGES) | awk -f $< - $(PAGES) > $@.tmp && mv $@.tmp $@

# cmd_NAME.c defines `const struct command cmd_NAME`, test_NAME.c `const struct suite suite_NAME`;
# the tables follow from the files.
$(BUILD)/command_table.c: $(BUILD)/lists
	@mkdir -p $(@D)
	{ echo '#include "engine/cmd/command.h"'; \
	  for n in $(COMMANDS:engine/cmd/%.c=%); do echo "extern const struct command $$n;"; done; \
	  echo 'const struct command *const command_table[] = {'; \
	  for n in $(COMMANDS:engine/cmd/%.c=%); do echo "    &$$n,"; done; echo '    NULL };'; } > $@

$(BUILD)/suite_table.c: $(BUILD)/lists
	@mkdir -p $(@D)
	{ echo '#include "tests/test.h"'; \
	  for n in $(TESTS:tests/test_%.c=%); do echo "extern const struct suite suite_$$n;"; done; \
	  echo 'const struct suite *const suite_table[] = {'; \
	  for n in $(TESTS:tests/test_%.c=%); do echo "    &suite_$$n,"; done; echo '    NULL };'; } > $@

# A job is one folder: all its .c files, and those of the shared folders that it names, make
# jobs/NAME.so. It sees only include/. The engine refuses a plug-in that others may write, so the
# umask must not be 002. One that is left out is replaced by a plug-in that says so.
$(BUILD)/plugins/%.o: jobs/%.c $(BUILD)/flags $(BUILD)/left_out
	@mkdir -p $(@D)
	$(CC) $(JOB_CFLAGS) $(if $(call optional,$(firstword $(subst /, ,$*))),-DWITH_OPTIONAL) -MMD -MP \
	  -c -o $@ $<

.SECONDEXPANSION:
$(BUILD)/jobs/%.so: $$(call parts,$$*) $(BUILD)/flags $(BUILD)/left_out \
    $$(wildcard jobs/$$*/libraries* jobs/$$*/shared)
	@mkdir -p $(@D) && chmod go-w $(@D)
	umask 022 && $(CC) $(JOB_CFLAGS) -shared $(LINK_PROTECT) -o $@ $(if $(filter $*,$(LEFT_OUT)),\
	  -DPLUGIN='"$*"' -DMISSING='"$(call missing,$*)"') $(call parts,$*) \
	  $(if $(filter $*,$(LEFT_OUT)),,$(call library_flags,$(call optional,$*) $(call libraries,$*)))

$(BUILD)/tests/jobs/%.so: tests/jobs/%.c include/prescient/job.h
	@mkdir -p $(@D) && chmod go-w $(@D)
	umask 022 && $(CC) -std=gnu11 -D_GNU_SOURCE $(OPT) -Wall -Wextra -fPIC -shared -fvisibility=hidden \
	  -Iinclude -o $@ $<

sim: $(BUILD)/sim
	@$(BUILD)/sim $(if $(SEED),$(SEED),--seeds $(or $(SEEDS),10000) --from $(or $(FROM),1)) \
	  $(if $(WRONG),--wrong $(WRONG))

model: $(BUILD)/model
	$(BUILD)/model $(if $(filter quick,$(PART)),-q)

check: $(if $(filter suites,$(KIND)),suite-programs,test-programs)
	$(if $(PG),PG_BIN=$$(tests/pg_release.sh $(PG)) &&) BUILD=$(BUILD) SANITIZE=$(SANITIZE) \
	  NIGHT=$(NIGHT) KIND=$(KIND) $(if $(PG),PRESCIENT_TEST_PG= PG_BIN=$$PG_BIN) tests/run.sh $(T)

test-programs: all $(if $(filter scripts,$(KIND)),,$(BUILD)/test) $(BUILD)/sim $(TEST_JOBS)

# What the suites start: all but the bench and the simulation.
suite-programs: $(BUILD)/prescient $(JOBS) left-out $(BUILD)/test $(TEST_JOBS)

drivers: $(BUILD)/prescient $(JOBS)
	DRIVERS_FETCH=1 BUILD=$(BUILD) tests/drivers.sh
	DRIVERS_FETCH=1 BUILD=$(BUILD) tests/languages.sh

night:
	tests/night.sh

faults-programs: all $(TEST_JOBS) $(BUILD)/prescient-failpoints

faults: faults-programs
	BUILD=$(BUILD) SEED=$(SEED) ONLY="$(ONLY)" QUICK=$(QUICK) RECORD=$(RECORD) tests/faults/run.sh

planted:
	SEED=$(or $(SEED),4711) ONLY="$(ONLY)" STORES="$(STORES)" tests/faults/planted.sh

storm: all $(TEST_JOBS)
	BUILD=$(BUILD) SEED=$(SEED) STORM_S=$(SECONDS) STORES="$(STORES)" \
	  FAULTS_RESULTS=$(abspath $(BUILD))/faults-storm.tsv \
	  FAULTS_EVIDENCE=$(abspath $(BUILD))/faults-failed tests/faults/storm.sh

measures: all $(TEST_JOBS)
	BUILD=$(BUILD) bench/night.sh

coverage:
	find build-coverage -name '*.gcda' -delete 2>/dev/null || true
	$(MAKE) COVERAGE=1 check T="$(T)"
	tests/coverage.sh build-coverage

valgrind: all $(BUILD)/test $(TEST_JOBS)
	BUILD=$(BUILD) tests/valgrind.sh $(T)

# Only lines that differ from the last commit, and new files: existing tables and columns of
# comments stay as they are.
fmt:
	git clang-format --force --quiet --extensions c,h -- bench engine include jobs tests || [ $$? = 1 ]
	git ls-files -o --exclude-standard -- '*.c' '*.h' | xargs -r clang-format -i

clean:
	rm -rf build build-*

include install.mk $(wildcard tests/*/*.mk)

.PHONY: FORCE all left-out model sim check test-programs suite-programs faults-programs faults planted \
  storm measures night coverage valgrind drivers fmt clean
.SECONDARY:
-include $(filter-out $(STAGE)/% $(BUILD)/stage/% $(BUILD)/deb/%,\
  $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(BUILD)/*/*/*/*.d))
