# analyze.mk - part of the Makefile: three analyzers read engine/, jobs/ and bench/, each file alone
# and only when something has changed.
# make -j2 analyze             gcc -fanalyzer, cppcheck, clang-tidy (.clang-tidy has its checks);
#                              in the night
# make -j2 analyze-quick       the first two: two minutes and a half of a processor, too much for
#                              the gate
# "N passed, N failed" counts files by analyzers. A finding is fixed, or answered in place, with the
# reason:
#   /* NOLINT(name): why */    /* cppcheck-suppress name ; why */
# and for a whole file, because gcc has nothing smaller but pragmas,
#   /* analyze: -Wno-analyzer-name: why */

ANALYZED := $(wildcard engine/main.c engine/*/*.c jobs/*/*.c jobs/shared/*/*.c bench/bench_*.c)
# gcc does not report what it has optimised away, so it analyzes without optimising.
# known.h: not where its functions are defined, and not in jobs, which see only include/.
ANALYZE_KNOWN = $(if $(filter engine/base/err.c jobs/%,$<),,-include tests/analyze/known.h)
ANALYZE_FLAGS = $(filter-out -g -O% -D_FORTIFY_SOURCE=%,$(CFLAGS_ALL)) -I. $(ANALYZE_KNOWN)

ANALYZE_gcc = gcc $(ANALYZE_FLAGS) -fanalyzer \
  $$(sed -n 's|^/\* analyze: \(-Wno-analyzer-[a-z-]*\): .*|\1|p' $<) -Werror -c -o /dev/null $<
ANALYZE_clang-tidy = clang-tidy --quiet $< -- $(ANALYZE_FLAGS) -Wno-unknown-warning-option 2>/dev/null
ANALYZE_cppcheck = cppcheck --quiet --error-exitcode=1 --std=c11 --language=c \
  --enable=warning,performance,portability --inline-suppr \
  --suppressions-list=tests/analyze/cppcheck.txt -Iinclude -I. -I$(BUILD)/sql -D__x86_64__ -D_GNU_SOURCE \
  '-DVERSION=""' '-DPLUGIN_DIR=""' \
  '-DTO_LIBEXEC=""' '-DTO_BIN=""' $<

define analyzer
$(BUILD)/analyze/%.$(1): %.c $(BUILD)/flags $(DIALECTS:%=$(BUILD)/sql/%_statements.h) \
    $(wildcard .clang-tidy tests/analyze/* engine/*/*.h bench/*.h include/*/*.h)
	@mkdir -p $$(@D) && rm -f $$@
	$$(ANALYZE_$(1))
	@touch $$@
endef
$(foreach one,gcc cppcheck clang-tidy,$(eval $(call analyzer,$(one))))

# All findings in one run: it continues after a finding, and counts the files that pass.
analyze: ANALYZE_BY := gcc cppcheck clang-tidy
analyze-quick: ANALYZE_BY := gcc cppcheck
analyze analyze-quick: clean = $(foreach one,$(ANALYZE_BY),$(ANALYZED:%.c=$(BUILD)/analyze/%.$(one)))
analyze analyze-quick:
	@for one in $(ANALYZE_BY); do command -v $$one >/dev/null || \
	  { echo "no $$one found (install the packages of packages.txt)" >&2; exit 2; }; done
	+@$(MAKE) -s -k -O BUILD=$(BUILD) $(clean); passed=$$(ls $(clean) 2>/dev/null | wc -l); \
	  echo "$$passed passed, $$(($(words $(clean)) - passed)) failed"; [ $$passed = $(words $(clean)) ]

.PHONY: analyze analyze-quick
