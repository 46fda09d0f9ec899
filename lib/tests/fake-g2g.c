// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A die that is alone in its fabric, and imports its own exports as if they were a peer's. */
#include "fake.h"
#include "fake-part.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAX_OBJECTS	64
#define ATOMICS		0x20000		/* of a map offset */

enum kind { NONE, EXPORT, IMPORT };

static struct object {
	enum kind kind;
	struct kiwi_g2g_export_create export;
	struct kiwi_g2g_import_bind bind;
	uint8_t state;
	uint8_t reason;
	uint32_t exporter;	/* of an import that is bound: the export */
	unsigned int bindings;
} objects[MAX_OBJECTS];

static struct kiwi_g2g_fabric_query fabric;
static struct kiwi_g2g_port_set ports[4];
static struct kiwi_g2g_export_create last_export;
static struct kiwi_g2g_routes_stage staged;
static uint8_t image[FAKE_IMAGE_MAX], slot_state;
static uint32_t written;
static unsigned int lag, lag_left;
static volatile uint64_t *atomics;

void fake_g2g_lag(unsigned int queries)
{
	lag = queries;
	lag_left = queries;
}

const struct kiwi_g2g_export_create *fake_g2g_export(void)
{
	return &last_export;
}

const struct kiwi_g2g_routes_stage *fake_g2g_staged(void)
{
	return &staged;
}

const uint8_t *fake_g2g_image(uint32_t *bytes)
{
	*bytes = written;
	return image;
}

volatile uint64_t *fake_g2g_atomics(void)
{
	return atomics;
}

unsigned int fake_g2g_objects(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < MAX_OBJECTS; i++)
		n += objects[i].kind != NONE;
	return n;
}

void fake_g2g_close(void)
{
	memset(objects, 0, sizeof(objects));
}

/* Whether a change is still to be waited for. */
static bool lags(void)
{
	if (!lag_left)
		return false;
	lag_left--;
	return true;
}

static uint32_t object_new(enum kind kind)
{
	uint32_t id;

	for (id = 1; objects[id].kind != NONE; id++)
		if (id == MAX_OBJECTS - 1)
			abort();
	memset(&objects[id], 0, sizeof(objects[id]));
	objects[id].kind = kind;
	lag_left = lag;
	return id;
}

static struct object *object(uint32_t id, enum kind kind)
{
	return id < MAX_OBJECTS && objects[id].kind == kind ? &objects[id] : NULL;
}

/* Fabric, ports, routes, images -------------------------------------------- */

static int query_device(struct kiwi_g2g_query_device *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	arg->serial = 0x4321;
	arg->accels = FAKE_ACCELS;
	arg->ports = 4;
	arg->slots = 2;
	arg->bind_ms = 50;
	arg->image_max = FAKE_IMAGE_MAX;
	return 0;
}

static int fabric_set(const struct kiwi_g2g_fabric_set *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	memset(&fabric, 0, sizeof(fabric));
	memcpy(fabric.pod, arg->pod, sizeof(fabric.pod));
	fabric.epoch = arg->epoch;
	fabric.accel = arg->accel;
	fabric.partition = arg->partition;
	fabric.state = KIWI_G2G_FABRIC_CONFIGURED;
	fabric.reason = KIWI_G2G_WHY_NO_ROUTES;
	return 0;
}

static int fabric_change(const struct kiwi_g2g_fabric_change *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	if (arg->op != KIWI_G2G_FABRIC_DO_ACTIVATE || fabric.state != KIWI_G2G_FABRIC_READY)
		return EINVAL;
	fabric.state = KIWI_G2G_FABRIC_ACTIVE;
	return 0;
}

static int fabric_query(struct kiwi_g2g_fabric_query *arg)
{
	uint32_t size = arg->size;

	breach_unless(size == sizeof(*arg) && !arg->flags);
	*arg = fabric;
	arg->size = size;
	if (fabric.state == KIWI_G2G_FABRIC_READY && lags()) {
		arg->state = KIWI_G2G_FABRIC_CONFIGURED;
		arg->reason = KIWI_G2G_WHY_NO_PORT;
		arg->routes--;
	}
	return 0;
}

static int port_set(const struct kiwi_g2g_port_set *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd && !arg->rsvd1);
	if (arg->port >= 4)
		return EINVAL;
	ports[arg->port] = *arg;
	return 0;
}

static int port_query(struct kiwi_g2g_port_query *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	if (arg->port >= 4)
		return EINVAL;
	arg->config = ports[arg->port].config;
	arg->mtu = ports[arg->port].mtu;
	return 0;
}

static int peer_query(struct kiwi_g2g_peer_query *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && arg->accel < FAKE_ACCELS);
	arg->state = lags() ? KIWI_G2G_PEER_SEEKING : KIWI_G2G_PEER_ESTABLISHED;
	arg->reason = KIWI_G2G_WHY_TIMEOUT;
	return 0;
}

static int peer_change(const struct kiwi_g2g_peer_change *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	breach_unless(arg->accel < FAKE_ACCELS);
	return arg->op == KIWI_G2G_PEER_DO_ISOLATE ? 0 : EINVAL;
}

static int log_read(struct kiwi_g2g_log_read *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	arg->count = 1;
	arg->record[0].sequence = arg->after + 1;
	return 0;
}

static int routes_stage(const struct kiwi_g2g_routes_stage *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	staged = *arg;
	return 0;
}

static int routes_commit(struct kiwi_g2g_routes_commit *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->rsvd);
	if (arg->generation != fabric.routes)
		return ESTALE;
	arg->generation = ++fabric.routes;
	fabric.state = KIWI_G2G_FABRIC_READY;
	fabric.reason = KIWI_G2G_WHY_NONE;
	lag_left = lag;
	return 0;
}

static int routes_query(struct kiwi_g2g_routes_query *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	arg->generation = fabric.routes;
	arg->way[0].ports = arg->first + 1;
	return 0;
}

static int image_load(const struct kiwi_g2g_image_load *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	breach_unless(memchr(arg->name, 0, sizeof(arg->name)));
	return strcmp(arg->name, "sue.img") ? ENOENT : 0;
}

static int image_write(const struct kiwi_g2g_image_write *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	breach_unless(arg->length <= FAKE_IMAGE_MAX && arg->len >= 1 &&
		      arg->len <= KIWI_G2G_IMAGE_CHUNK && arg->offset + arg->len <= arg->length);
	if (!arg->offset)
		written = 0;
	breach_unless(arg->offset == written);
	memcpy(image + arg->offset, (void *)(uintptr_t)arg->data, arg->len);
	written += arg->len;
	slot_state = written == arg->length ? KIWI_G2G_SLOT_LOADED : KIWI_G2G_SLOT_LOADING;
	return 0;
}

static int image_change(const struct kiwi_g2g_image_change *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	slot_state = KIWI_G2G_SLOT_VERIFIED;
	return arg->slot < 2 ? 0 : EINVAL;
}

static int image_query(struct kiwi_g2g_image_query *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	arg->state = slot_state;
	arg->written = written;
	return arg->slot < 2 ? 0 : EINVAL;
}

/* Exports and imports ------------------------------------------------------- */

static int export_create(struct kiwi_g2g_export_create *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	if (!arg->rights || !arg->length)
		return EINVAL;
	arg->export_id = object_new(EXPORT);
	memset(arg->handle, (int)(0x80 + arg->export_id), sizeof(arg->handle));
	objects[arg->export_id].export = *arg;
	objects[arg->export_id].state = KIWI_G2G_EXPORT_LIVE;
	last_export = *arg;
	return 0;
}

static int export_revoke(const struct kiwi_g2g_export_revoke *arg)
{
	struct object *o = object(arg->export_id, EXPORT);
	uint32_t i;

	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	if (!o || o->state != KIWI_G2G_EXPORT_LIVE)
		return o ? EINVAL : ENOENT;
	o->state = KIWI_G2G_EXPORT_REVOKED;
	o->bindings = 0;
	for (i = 0; i < MAX_OBJECTS; i++)
		if (objects[i].kind == IMPORT && objects[i].exporter == arg->export_id) {
			objects[i].exporter = 0;
			objects[i].state = KIWI_G2G_WINDOW_DEAD;
			objects[i].reason = KIWI_G2G_WHY_REVOKED;
		}
	lag_left = lag;
	return 0;
}

static int export_query(struct kiwi_g2g_export_query *arg)
{
	struct object *o = object(arg->export_id, EXPORT);

	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	if (!o)
		return ENOENT;
	arg->state = o->state == KIWI_G2G_EXPORT_REVOKED && lags() ? KIWI_G2G_EXPORT_REVOKING :
		     o->state;
	arg->bindings = o->bindings;
	return 0;
}

/* The export that the handle names and that grants it; 0: none. */
static uint32_t exporter_of(const struct kiwi_g2g_import_bind *bind)
{
	uint32_t i;

	for (i = 0; i < MAX_OBJECTS; i++) {
		const struct kiwi_g2g_export_create *e = &objects[i].export;

		if (objects[i].kind == EXPORT && !memcmp(e->handle, bind->handle, 16) &&
		    !(bind->rights & ~e->rights) &&
		    (e->grantees[bind->accel / 8] & 1 << bind->accel % 8))
			return i;
	}
	return 0;
}

static int import_bind(struct kiwi_g2g_import_bind *arg)
{
	uint32_t exporter = exporter_of(arg);

	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd && !arg->rsvd1);
	breach_unless(arg->accel < FAKE_ACCELS);
	arg->import_id = object_new(IMPORT);
	objects[arg->import_id].bind = *arg;
	objects[arg->import_id].exporter = exporter;
	objects[arg->import_id].state = exporter ? KIWI_G2G_WINDOW_BOUND : KIWI_G2G_WINDOW_DEAD;
	objects[arg->import_id].reason = exporter ? 0 : KIWI_G2G_WHY_NO_ACCESS;
	objects[exporter].bindings++;
	return 0;
}

static int import_map(struct kiwi_g2g_import_map *arg)
{
	struct object *o = object(arg->import_id, IMPORT);

	breach_unless(arg->size == sizeof(*arg) && !(arg->flags & ~KIWI_G2G_IMPORT_WC) &&
		      !arg->rsvd);
	if (!o || o->state != KIWI_G2G_WINDOW_BOUND)
		return o ? EINVAL : ENOENT;
	o->state = KIWI_G2G_WINDOW_MAPPED;
	arg->map_offset = (uint64_t)arg->import_id << 18;
	arg->map_size = FAKE_MAP_SIZE;
	if (o->bind.rights & KIWI_ACCESS_REMOTE_ATOMIC) {
		arg->atomic_offset = arg->map_offset | ATOMICS;
		arg->atomic_size = 4096;
	}
	return 0;
}

void *fake_g2g_mmap(size_t len, int prot, int flags, off_t off)
{
	bool atomic = off & ATOMICS;
	void *p;

	breach_unless(prot == (PROT_READ | PROT_WRITE) && (flags & MAP_SHARED));
	breach_unless(object((uint32_t)(off >> 18), IMPORT));
	breach_unless(len == (atomic ? 4096 : FAKE_MAP_SIZE));
	p = __real_mmap(NULL, len, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (atomic)
		atomics = p;
	return p;
}

static int import_query(struct kiwi_g2g_import_query *arg)
{
	struct object *o = object(arg->import_id, IMPORT);

	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	if (!o)
		return ENOENT;
	arg->state = o->state == KIWI_G2G_WINDOW_BOUND && lags() ? KIWI_G2G_WINDOW_BINDING :
		     o->state;
	arg->reason = o->reason;
	arg->accel = o->bind.accel;
	return 0;
}

static int import_dmabuf(struct kiwi_g2g_import_dmabuf *arg)
{
	struct object *o = object(arg->import_id, IMPORT);

	breach_unless(arg->size == sizeof(*arg) && arg->flags == O_CLOEXEC);
	if (!o || o->state != KIWI_G2G_WINDOW_MAPPED)
		return o ? EINVAL : ENOENT;
	arg->fd = 78;
	arg->length = FAKE_MAP_SIZE;
	return 0;
}

static int destroy(const struct kiwi_destroy *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	if (arg->id >= MAX_OBJECTS || objects[arg->id].kind == NONE)
		return ENOENT;
	if (objects[arg->id].bindings)
		return EBUSY;
	if (objects[arg->id].exporter)
		objects[objects[arg->id].exporter].bindings--;
	objects[arg->id].kind = NONE;
	return 0;
}

int fake_g2g_answer(unsigned long request, void *argument)
{
	switch (request) {
	case KIWI_G2G_QUERY_DEVICE: return query_device(argument);
	case KIWI_G2G_FABRIC_SET: return fabric_set(argument);
	case KIWI_G2G_FABRIC_CHANGE: return fabric_change(argument);
	case KIWI_G2G_FABRIC_QUERY: return fabric_query(argument);
	case KIWI_G2G_DESTROY: return destroy(argument);
	case KIWI_G2G_READ_LOG: return log_read(argument);
	case KIWI_G2G_PORT_SET: return port_set(argument);
	case KIWI_G2G_PORT_QUERY: return port_query(argument);
	case KIWI_G2G_PEER_QUERY: return peer_query(argument);
	case KIWI_G2G_PEER_CHANGE: return peer_change(argument);
	case KIWI_G2G_ROUTES_STAGE: return routes_stage(argument);
	case KIWI_G2G_ROUTES_COMMIT: return routes_commit(argument);
	case KIWI_G2G_ROUTES_QUERY: return routes_query(argument);
	case KIWI_G2G_IMAGE_LOAD: return image_load(argument);
	case KIWI_G2G_IMAGE_WRITE: return image_write(argument);
	case KIWI_G2G_IMAGE_CHANGE: return image_change(argument);
	case KIWI_G2G_IMAGE_QUERY: return image_query(argument);
	case KIWI_G2G_EXPORT_CREATE: return export_create(argument);
	case KIWI_G2G_EXPORT_REVOKE: return export_revoke(argument);
	case KIWI_G2G_EXPORT_QUERY: return export_query(argument);
	case KIWI_G2G_IMPORT_BIND: return import_bind(argument);
	case KIWI_G2G_IMPORT_MAP: return import_map(argument);
	case KIWI_G2G_IMPORT_QUERY: return import_query(argument);
	case KIWI_G2G_IMPORT_DMABUF: return import_dmabuf(argument);
	default: return ENOTTY;
	}
}
