# SPDX-License-Identifier: GPL-2.0
# libkiwi, its examples and host tests; included by the top Makefile.
#
#	programs		builds all, into $(B)/lib and $(B)/bin
#	libkiwi-check		runs the host tests; SANITIZE=1 with ASan and UBSan
#	install-libkiwi		DESTDIR, PREFIX, LIBDIR, INCLUDEDIR, MANDIR

B ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man

kiwi-version := 1.0.0
kiwi-soname := libkiwi.so.1

user-warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Werror
user-cflags = -std=gnu11 -O2 -g -pthread $(user-warnings) -D_GNU_SOURCE -MMD -MP \
	-Ilib/include -Iinclude/uapi -Ifirmware-abi $(USER_CFLAGS)

kiwi-lib := $(B)/lib/libkiwi.a
kiwi-src := $(wildcard lib/src/*.c)
kiwi-obj := $(kiwi-src:%.c=$(B)/obj/%.o)
kiwi-pic := $(kiwi-src:%.c=$(B)/obj/%.pic.o)
kiwi-examples := $(patsubst lib/examples/%.c,$(B)/bin/%,$(wildcard lib/examples/*.c))
kiwi-tests := $(patsubst lib/tests/test-%.c,$(B)/tests/lib/test-%,$(wildcard lib/tests/test-*.c))

programs: libkiwi
libkiwi: $(kiwi-lib) $(B)/lib/libkiwi.so $(kiwi-examples)

$(B)/obj/%.pic.o: %.c
	@mkdir -p $(@D)
	$(CC) $(user-cflags) -fPIC -fvisibility=default -c -o $@ $<

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(user-cflags) -c -o $@ $<

$(kiwi-lib): $(kiwi-obj)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/lib/$(kiwi-soname): $(kiwi-pic) lib/libkiwi.map
	@mkdir -p $(@D)
	$(CC) -shared -pthread -Wl,-soname,$(kiwi-soname) -Wl,-z,defs \
		-Wl,--version-script=lib/libkiwi.map -o $@ $(kiwi-pic) $(USER_LDFLAGS)

$(B)/lib/libkiwi.so: $(B)/lib/$(kiwi-soname)
	ln -sf $(kiwi-soname) $@

# Programs take the library in: what runs is what was built with it.
$(kiwi-examples): $(B)/bin/%: $(B)/obj/lib/examples/%.o $(kiwi-lib)
	@mkdir -p $(@D)
	$(CC) -pthread -o $@ $^ $(USER_LDFLAGS)

# Host tests: the library over a kernel that lib/tests/fake*.c plays. The library is
# compiled for them anew, so that a sanitizer sees it too.
comma := ,
test-variant := $(if $(SANITIZE),-sanitize)
test-cflags = $(user-cflags) -Ilib/src -Ilib/tests $(test-sanitize)
test-sanitize := $(if $(SANITIZE),-DKIWI_TEST_SANITIZE -fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=all)
test-wrap := -Wl,--wrap=ioctl,--wrap=open,--wrap=close,--wrap=read,--wrap=mmap
test-obj := $(B)/obj/test$(test-variant)
test-common := $(patsubst %.c,$(test-obj)/%.o,$(kiwi-src) lib/tests/fake.c \
	lib/tests/fake-g2g.c lib/tests/tap.c)

libkiwi-tests: $(kiwi-tests:%=%$(test-variant))

$(test-obj)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(test-cflags) -c -o $@ $<

$(B)/tests/lib/test-%$(test-variant): $(test-obj)/lib/tests/test-%.o $(test-common)
	@mkdir -p $(@D)
	$(CC) -pthread $(test-sanitize) $(test-wrap) -o $@ $^ $(USER_LDFLAGS)

libkiwi-check: libkiwi-tests
	@lib/tests/run.sh $(kiwi-tests:%=%$(test-variant))

install-libkiwi: libkiwi
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/kiwi \
		$(DESTDIR)$(INCLUDEDIR)/kiwi_abi $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(kiwi-lib) $(DESTDIR)$(LIBDIR)/
	install $(B)/lib/$(kiwi-soname) $(DESTDIR)$(LIBDIR)/libkiwi.so.$(kiwi-version)
	ln -sf libkiwi.so.$(kiwi-version) $(DESTDIR)$(LIBDIR)/$(kiwi-soname)
	ln -sf $(kiwi-soname) $(DESTDIR)$(LIBDIR)/libkiwi.so
	install -m 644 lib/include/kiwi/*.h include/uapi/kiwi/*.h $(DESTDIR)$(INCLUDEDIR)/kiwi/
	install -m 644 firmware-abi/kiwi_abi/*.h $(DESTDIR)$(INCLUDEDIR)/kiwi_abi/
	sed 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIBDIR),; s,@INCLUDEDIR@,$(INCLUDEDIR),; s,@VERSION@,$(kiwi-version),' \
		lib/libkiwi.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/libkiwi.pc
	scripts/install-man.sh $(DESTDIR)$(MANDIR)/man3 Documentation/man/*.3

.PHONY: programs libkiwi libkiwi-tests libkiwi-check install-libkiwi

-include $(kiwi-obj:.o=.d) $(kiwi-pic:.o=.d) $(wildcard $(test-obj)/lib/*/*.d)
.PRECIOUS: $(test-obj)/%.o
