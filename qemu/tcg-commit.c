/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets each vCPU take up a changed memory map by itself.
 *
 * QEMU before 8.1.1 changes the map of a vCPU under its hands: an access in
 * flight may look up the number of its old section among the new ones, and so
 * reach another device, or none, which ends QEMU in
 * memory_region_dispatch_write(). A reset unmaps BARs while other vCPUs run, so
 * it is met here. This does what QEMU does since (0d58c660689f): the listener
 * that takes up the map runs as work of its vCPU. Until then the vCPU uses the
 * old map, which therefore stays referenced.
 */
#include "qemu/osdep.h"

#if KIWI_QEMU_MAJOR <= 8
#include "qemu/module.h"
#include "qemu/notify.h"
#include "hw/core/cpu.h"
#include "sysemu/sysemu.h"

#include "memory-core.h"

#define LISTENER_NAME "tcg"

typedef struct TcgListener {
    CPUState *cpu;
    AddressSpace *as;
    FlatView *view;             /* that the vCPU uses, referenced */
    MemoryListener *listener;
    void (*commit)(MemoryListener *listener);
} TcgListener;

static GHashTable *listeners;   /* MemoryListener: TcgListener */

static void commit_on_cpu(CPUState *cpu, run_on_cpu_data data)
{
    TcgListener *l = data.host_ptr;
    FlatView *old = l->view;

    l->commit(l->listener);
    l->view = address_space_get_flatview(l->as);
    flatview_unref(old);
}

static void commit_later(MemoryListener *listener)
{
    TcgListener *l = g_hash_table_lookup(listeners, listener);

    async_run_on_cpu(l->cpu, commit_on_cpu, RUN_ON_CPU_HOST_PTR(l));
}

static void defer(CPUState *cpu, AddressSpace *as)
{
    MemoryListener *listener;
    TcgListener *l;

    QTAILQ_FOREACH(listener, &as->listeners, link_as) {
        if (!g_strcmp0(listener->name, LISTENER_NAME)) {
            l = g_new0(TcgListener, 1);
            l->cpu = cpu;
            l->as = as;
            l->view = address_space_get_flatview(as);
            l->listener = listener;
            l->commit = listener->commit;
            g_hash_table_insert(listeners, listener, l);
            listener->commit = commit_later;
        }
    }
}

static void machine_done(Notifier *notifier, void *unused)
{
    CPUState *cpu;

    listeners = g_hash_table_new(NULL, NULL);
    CPU_FOREACH(cpu) {
        for (int i = 0; i < cpu->num_ases; i++) {
            defer(cpu, cpu_get_address_space(cpu, i));
        }
    }
}

static Notifier notifier = { .notify = machine_done };

static void tcg_commit_register(void)
{
    qemu_add_machine_init_done_notifier(&notifier);
}

type_init(tcg_commit_register)
#endif
