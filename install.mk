# install.mk - part of the Makefile: what `make install` puts where, `make uninstall` removes, and
# `make dist` packs.
#
# PREFIX is /usr/local; the folders below it can be named one by one, as GNU's standards have them:
# make install DESTDIR=/tmp/root PREFIX=/usr docdir=/usr/share/doc/shop. Settings are looked for in
# /etc/prescient, wherever the program is; no settings are installed, only samples.
#
# Everything is first put into a folder of its own, $(STAGE), and copied from there. So what is
# removed is what the same files would install again. Manual pages, units and samples speak of
# /usr/local in the repository, where they can be tried; what is installed speaks of the folders
# where it was put.

prefix = $(PREFIX)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
libexecdir = $(exec_prefix)/libexec
libdir = $(exec_prefix)/lib
includedir = $(prefix)/include
datarootdir = $(prefix)/share
datadir = $(datarootdir)
mandir = $(datarootdir)/man
docdir = $(datarootdir)/doc/prescient
# What systemd, pkg-config and shells read.
unitdir = $(exec_prefix)/lib/systemd/system
sysusersdir = $(exec_prefix)/lib/sysusers.d
tmpfilesdir = $(exec_prefix)/lib/tmpfiles.d
pkgconfigdir = $(datarootdir)/pkgconfig
bashdir = $(datadir)/bash-completion/completions
zshdir = $(datadir)/zsh/site-functions
fishdir = $(datadir)/fish/vendor_completions.d

jobsdir = $(libdir)/prescient/jobs
toolsdir = $(libexecdir)/prescient
# The program finds the others by the way from its own folder to theirs.
TO_LIBEXEC := $(shell realpath -ms --relative-to="$(bindir)" "$(toolsdir)")
TO_BIN := $(shell realpath -ms --relative-to="$(toolsdir)" "$(bindir)")
PLACES := -DPLUGIN_DIR='"$(jobsdir)"' -DTO_LIBEXEC='"$(TO_LIBEXEC)"' -DTO_BIN='"$(TO_BIN)"'

FOLDERS := DESTDIR bindir libexecdir libdir includedir mandir docdir unitdir sysusersdir tmpfilesdir \
  pkgconfigdir bashdir zshdir fishdir
with_blank = $(strip $(foreach d,$(FOLDERS),$(if $(word 2,$($(d))),$(d))))

STAGE = $(BUILD)/stage
SHELLS := $(if $(wildcard engine/cmd/cmd_completion.c),bash zsh fish)
UNITS := $(wildcard etc/*.service etc/*.timer etc/*.socket)
SYSTEM := $(UNITS) $(wildcard etc/*.sysusers etc/*.tmpfiles etc/*.pc)
# Documents keep their places to each other, so that their links hold; what they link is with them.
DOCUMENTS := README.md CHANGELOG.md CONTRIBUTING.md LICENSE bench/README.md engine/README.md \
  tests/README.md $(wildcard docs/*.[1-8] docs/*.md docs/*.json docs/*.svg docs/*.png \
  jobs/*.md jobs/*/README.md jobs/*/sample.cfg examples/*/*) \
  $(filter-out $(SYSTEM),$(wildcard etc/*.*) $(wildcard etc/*/*))

# The one after the other, also with -j.
install: all
	+@$(MAKE) --no-print-directory install-built

# What has been built, wherever it stands; nothing is built.
install-built: stage
	umask 022; cd $(STAGE) && find . -type f | while read -r file; do \
	  mode=644; [ ! -x "$$file" ] || mode=755; \
	  install -D -m $$mode "$$file" "$(abspath $(DESTDIR))$${file#.}" || exit 1; done

# Folders are removed that are of prescient alone and empty.
uninstall: stage
	cd $(STAGE) && find . -type f | while read -r file; do \
	  rm -f "$(abspath $(DESTDIR))$${file#.}" || exit 1; done
	cd $(STAGE) && find . -depth -type d \( -path '*/prescient*' -o -path '.$(docdir)*' \) | \
	  while read -r folder; do \
	  folder="$(abspath $(DESTDIR))$${folder#.}"; [ ! -d "$$folder" ] || \
	  rmdir --ignore-fail-on-non-empty "$$folder" || exit 1; done

stage:
	@$(if $(with_blank),echo "$(with_blank): a name of a folder with a blank in it" >&2; exit 1)
	@$(if $(wildcard $(BUILD)/prescient),,echo "make: first build what is to be installed" >&2; exit 1)
	rm -rf $(STAGE)
	install -D -t $(STAGE)$(bindir) $(BUILD)/prescient
	install -D -t $(STAGE)$(toolsdir) $(BUILD)/prescient-bench
	install -D -m 644 -t $(STAGE)$(jobsdir) $(JOBS)
	install -D -m 644 -t $(STAGE)$(includedir)/prescient include/prescient/job.h
	install -D -m 644 -t $(STAGE)$(unitdir) $(UNITS)
	install -D -m 644 etc/prescient.sysusers $(STAGE)$(sysusersdir)/prescient.conf
	install -D -m 644 etc/prescient.tmpfiles $(STAGE)$(tmpfilesdir)/prescient.conf
	install -D -m 644 -t $(STAGE)$(pkgconfigdir) etc/prescient.pc
	for page in docs/*.[1-8]; do \
	  install -D -m 644 -t $(STAGE)$(mandir)/man$${page##*.} $$page || exit 1; done
	install -d $(STAGE)$(docdir) && cp --parents $(DOCUMENTS) $(STAGE)$(docdir)
	$(if $(SHELLS),install -d $(STAGE)$(bashdir) $(STAGE)$(zshdir) $(STAGE)$(fishdir))
	$(if $(SHELLS),$(BUILD)/prescient completion bash > $(STAGE)$(bashdir)/prescient)
	$(if $(SHELLS),$(BUILD)/prescient completion zsh > $(STAGE)$(zshdir)/_prescient)
	$(if $(SHELLS),$(BUILD)/prescient completion fish > $(STAGE)$(fishdir)/prescient.fish)
	grep -rlIZ -e /usr/local -e '^\.TH ' -e @ $(STAGE) | xargs -0 sed -i \
	  -e 's|/usr/local/bin/prescient|$(bindir)/prescient|g' \
	  -e 's|/usr/local/lib/prescient/jobs|$(jobsdir)|g' \
	  -e 's|^PATH=/usr/local/bin:|PATH=$(filter-out /usr/bin: /bin:,$(bindir):)|' \
	  -e 's|^\(\.TH .*\) prescient "|\1 "prescient $(VERSION)" "|' \
	  -e 's|@VERSION@|$(VERSION)|; s|@prefix@|$(prefix)|; s|@includedir@|$(includedir)|' \
	  -e 's|@jobsdir@|$(jobsdir)|'
	chmod -R go-w $(STAGE)

# The same commit makes the same file. Files that groups may write would be refused where root has
# unpacked them.
dist:
	@mkdir -p $(BUILD)
	@[ -z "$$(git status --porcelain)" ] || echo "make dist: what is not committed is not in it" >&2
	name=prescient-$$(git show HEAD:CHANGELOG.md | sed -n 's/^## \([0-9][^ ]*\).*/\1/p' | head -1) && \
	git -c tar.umask=0022 archive --prefix=$$name/ HEAD | gzip -9n > $(BUILD)/dist.tmp && \
	mv $(BUILD)/dist.tmp $(BUILD)/$$name.tar.gz && echo $(BUILD)/$$name.tar.gz

# Debian's packages, of the last commit, in build/deb.
deb: dist
	rm -rf $(BUILD)/deb && mkdir $(BUILD)/deb
	tar -C $(BUILD)/deb -xzf $(BUILD)/prescient-*.tar.gz
	cd $(BUILD)/deb/prescient-*/ && dpkg-buildpackage -us -uc
	ls $(BUILD)/deb/*.deb

.PHONY: install install-built uninstall stage dist deb
