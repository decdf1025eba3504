# cuckoo: a PostgreSQL extension, built with PGXS.
#
#   make                          build for the pg_config in PATH
#   make PG_CONFIG=/path/...      build for another PostgreSQL
#   make install                  install there
#   make installcheck             test against a running server
#   make dist                     archives of what is committed, for a release
#   make WERROR=1                 warnings are errors, as the tests build it
#   make -f ../cuckoo/Makefile    from another folder: build there (VPATH)
#
# test/run.sh runs every test, and test/demo.sh the demo.  Both bring their own
# server.

EXTENSION = cuckoo cuckoo_index cuckoo_citus
MODULE_big = cuckoo

# The folder of this Makefile.  PGXS sets $(srcdir) to the same, but is included
# only below, and the wildcards are needed before.
top := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
found = $(patsubst $(top)/%,%,$(sort $(wildcard $(top)/$(1))))

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# What is built and installed

folders = src src/core src/index
OBJS = $(patsubst %.c,%.o,$(foreach folder,$(folders),$(call found,$(folder)/*.c)))
DATA = $(foreach extension,$(EXTENSION),$(call found,sql/$(extension)--*.sql))

# What is tested: pg_regress, isolation specs, TAP

REGRESS = $(patsubst test/sql/%.sql,%,$(call found,test/sql/*.sql))
load = --load-extension=cuckoo --load-extension=cuckoo_index
REGRESS_OPTS = --inputdir=$(srcdir)/test $(load)
# From 15 to 18 pg_regress looks for the expected outputs in ./expected.  A
# separate build folder has none, and gets a link to ours.
REGRESS_PREP = $(if $(wildcard expected),,link-expected)

# Empty lists stay undefined: PGXS tests whether they are defined.
ifneq ($(call found,test/isolation/specs/*.spec),)
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(call found,test/isolation/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation $(load)
endif
ifneq ($(call found,test/t/*.pl),)
TAP_TESTS = 1
PROVE_TESTS = $(call found,test/t/*.pl)
endif

# How it is compiled.  No -march: a package has to run on every machine of its
# architecture.  PostgreSQL's headers are not free of these warnings; -isystem
# limits the warnings to our own files.

PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server)
PG_CFLAGS = -std=gnu11 -Wall -Wextra
ifdef WERROR
PG_CFLAGS += -Werror
endif

# The bitcode for PostgreSQL's JIT needs the clang and the LLVM that PostgreSQL
# was built with.  If one of them is missing, do without bitcode.
built_with = $(shell sed -n 's/^$(1) *= *//p' /dev/null $(wildcard $(dir $(PGXS))../Makefile.global))
CLANG ?= $(call built_with,CLANG)
ifeq ($(shell command -v $(CLANG) && command -v $(call built_with,LLVM_BINPATH)/llvm-lto),)
override with_llvm := no
endif

include $(PGXS)

# The TAP tests share a module.
PG_PROVE_FLAGS += -I $(srcdir)/test/t

# Debian's PGXS does not track headers.  Every object depends on all of ours:
# building takes seconds, and nothing is ever stale.  In a separate build folder
# the objects need their subfolders.
$(OBJS) $(OBJS:.o=.bc): $(foreach folder,$(folders),$(call found,$(folder)/*.h)) | $(folders:%=$(CURDIR)/%)
$(folders:%=$(CURDIR)/%):
	mkdir -p $@

.PHONY: link-expected
link-expected:
	ln -sfn '$(realpath $(srcdir))/expected' expected

# A release's archives: the zip file for PGXN, the tar file for packages.  The
# same commit gives the same bytes.
version = $(shell sed -n "s/^default_version = '\(.*\)'$$/\1/p" $(top)/cuckoo.control)
archive = TZ=UTC git -C $(top) -c tar.tar.gz.command='gzip -cn' archive --prefix=cuckoo-$(version)/

.PHONY: dist
dist:
	mkdir -p dist
	$(archive) --format=zip HEAD >dist/cuckoo-$(version).zip
	$(archive) --format=tar.gz HEAD >dist/cuckoo-$(version).tar.gz
