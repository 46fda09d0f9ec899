// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preload shim: loads kiwi-models.so, which lies beside it, into the QEMU that
 * the models were compiled for.
 *
 * It refers to no QEMU symbol, so that a wrapper program (timeout, sh) that
 * inherits LD_PRELOAD runs on undisturbed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODELS "kiwi-models.so"
#define WANTED "qemu_stamp" KIWI_QEMU_STAMP

static bool exe_contains(const char *text)
{
    bool found = false;
    struct stat st;
    void *map;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    if (!fstat(fd, &st)) {
        map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            found = memmem(map, st.st_size, text, strlen(text));
            munmap(map, st.st_size);
        }
    }
    close(fd);
    return found;
}

static void __attribute__((constructor)) kiwi_load(void)
{
    char path[PATH_MAX];
    const char *slash;
    Dl_info self;

    if (!dlsym(RTLD_DEFAULT, "register_module_init")) {
        return;
    }
    if (!exe_contains(WANTED)) {
        fprintf(stderr, "kiwi: this QEMU is not the build that the models "
                "were compiled for (want " WANTED ")\n");
        exit(1);
    }
    slash = dladdr(kiwi_load, &self) ? strrchr(self.dli_fname, '/') : NULL;
    if (!slash ||
        snprintf(path, sizeof(path), "%.*s" MODELS,
                 (int)(slash + 1 - self.dli_fname), self.dli_fname) >=
        (int)sizeof(path)) {
        fprintf(stderr, "kiwi: preload the shim by its full path\n");
        exit(1);
    }
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
        fprintf(stderr, "kiwi: %s\n", dlerror());
        exit(1);
    }
}
