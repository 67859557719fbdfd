# fuzz.mk - part of the Makefile: the targets tests/fuzz/fuzz_NAME.c, with libFuzzer (make fuzz) or
# over the kept corpus (make fuzz-corpus).
# make fuzz [TARGET=csv] [SECONDS=60]      with clang, in build-fuzz/; all targets without TARGET
# make SANITIZE=address,undefined fuzz-corpus      every kept input once, in the build of the
#                                          sanitized tests

FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_BUILD ?= build-fuzz
FUZZ_MAIN := $(if $(findstring fuzzer,$(SANITIZE)),-fsanitize=fuzzer,$(BUILD)/tests/fuzz/replay.o)

# An archive, so that a target links what it needs, and may replace one of the modules by its own.
$(BUILD)/libengine.a: $(ENGINE_O)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(filter %.o,$(FUZZ_MAIN)) $(BUILD)/libengine.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $< $(FUZZ_MAIN) $(BUILD)/libengine.a $(LIBS) $(LIBPQ)

fuzz:
	$(MAKE) CC=clang SANITIZE=fuzzer-no-link,address,undefined BUILD=$(FUZZ_BUILD) \
	  $(patsubst %,$(FUZZ_BUILD)/fuzz/%,$(or $(TARGET),$(FUZZ)))
	BUILD=$(FUZZ_BUILD) tests/fuzz/run.sh $(or $(SECONDS),60) $(or $(TARGET),$(FUZZ))

fuzz-corpus: $(FUZZ:%=$(BUILD)/fuzz/%)
	BUILD=$(BUILD) tests/fuzz/replay.sh $(FUZZ)

.PHONY: fuzz fuzz-corpus
