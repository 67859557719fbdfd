# cron.mk - part of the Makefile: the program that tests/cron_table.sh compares with others.

NEXT_TIMES_O := $(BUILD)/tests/cron/next_times.o $(addprefix $(BUILD)/engine/, $(addsuffix .o, \
  rules/cron base/zone base/calendar base/moment base/nearest base/err base/utf8))

$(BUILD)/next-times: $(NEXT_TIMES_O)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

check test-programs: $(BUILD)/next-times
