// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* G2G IO dies: every call's contract, waiting, errors in words, and failure of each system call. */
#include "fixture.h"

#define RIGHTS (KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_ATOMIC)

static const uint16_t grantees[] = { 1, 5, 15 };

static const struct kiwi_export_config export_config = {
	.fd = 9,
	.rights = RIGHTS,
	.offset = 4096,
	.length = 8192,
	.user_data = 33,
	.grantees = grantees,
	.nr_grantees = 3,
};

static struct kiwi_g2g *open_g2g(void)
{
	struct kiwi_g2g *g2g;

	need(kiwi_g2g_open(FAKE_G2G_NAME, &g2g));
	return g2g;
}

static void test_names(void)
{
	static const char *const good[] = { "g2g3", "3", "/dev/kiwi/g2g3" };
	static const char *const bad[] = { "", "g2g", "g2g-1", "snic3", "g2g3x", "/dev/kiwi/" };
	struct kiwi_device *snic;
	struct kiwi_g2g *g2g;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		holds(!kiwi_g2g_open(good[i], &g2g));
		holds(!strcmp(kiwi_g2g_name(g2g), "g2g3") && kiwi_g2g_fd(g2g) > 0);
		holds(kiwi_g2g_info(g2g)->serial == 0x4321);
		kiwi_g2g_close(g2g);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		holds(kiwi_g2g_open(bad[i], &g2g) == -EINVAL);
	holds(kiwi_open("g2g3", &snic) == -EINVAL);
	say("device names");
	ok(kiwi_g2g_open("g2g99998", &g2g) == -ENOENT && says("g2g99998"),
	   "a device that is not there");
	kiwi_g2g_close(NULL);
}

static void test_fabric(void)
{
	struct kiwi_g2g_fabric_set config = { .pod = { 7 }, .epoch = 2, .accel = 3, .partition = 4 };
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_g2g_fabric_query now;
	struct kiwi_g2g_routes_stage stage = { .nr_nodes = 5, .max_hops = 6 };
	struct kiwi_g2g_routes_query way;
	uint32_t generation = 0;

	need(kiwi_g2g_set_fabric(g2g, &config));
	need(kiwi_g2g_query_fabric(g2g, &now));
	ok(now.state == KIWI_G2G_FABRIC_CONFIGURED && now.epoch == 2 && now.accel == 3 &&
	   now.pod[0] == 7 && now.partition == 4, "a fabric is configured");
	fake_fail(_IOC_NR(KIWI_G2G_FABRIC_CHANGE), 1, EBUSY, "1 file has objects: 17 (cat)");
	ok(kiwi_g2g_change_fabric(g2g, KIWI_G2G_FABRIC_DO_ACTIVATE) == -EBUSY &&
	   says("17 (cat)") && says("g2g3"), "the kernel's words are passed on");
	fake_fail(_IOC_NR(KIWI_G2G_FABRIC_CHANGE), 1, EPERM, NULL);
	ok(kiwi_g2g_change_fabric(g2g, KIWI_G2G_FABRIC_DO_ACTIVATE) == -EPERM &&
	   says("change fabric"), "without words of the kernel the errno speaks");
	ok(kiwi_g2g_wait_fabric(g2g, KIWI_G2G_FABRIC_READY, 5) == -ETIMEDOUT &&
	   says("CONFIGURED") && says("NO_ROUTES") && says("READY") && says("5 ms"),
	   "what does not come in time is told");

	need(kiwi_g2g_stage_routes(g2g, &stage));
	ok(fake_g2g_staged()->nr_nodes == 5 && fake_g2g_staged()->max_hops == 6, "routes are staged");
	fake_g2g_lag(3);
	need(kiwi_g2g_commit_routes(g2g, KIWI_G2G_ROUTES_DRAIN, &generation));
	ok(generation == 1, "routes are committed");
	ok(!kiwi_g2g_wait_routes(g2g, 1, 1000), "and waited for");
	ok(kiwi_g2g_wait_routes(g2g, 7, 1) == -ETIMEDOUT && says("generation 1, not 7"),
	   "as long as is said");
	generation = 0;
	ok(kiwi_g2g_commit_routes(g2g, 0, &generation) == -ESTALE && !generation,
	   "a generation that is stale");
	need(kiwi_g2g_query_routes(g2g, KIWI_G2G_TABLE_ACTIVE, 3, &way));
	ok(way.generation == 1 && way.way[0].ports == 4, "routes are read");
	generation = 1;
	need(kiwi_g2g_commit_routes(g2g, KIWI_G2G_ROUTES_ROLLBACK, &generation));
	ok(!kiwi_g2g_wait_fabric(g2g, KIWI_G2G_FABRIC_READY, -1), "READY is waited for");
	fake_g2g_lag(0);
	need(kiwi_g2g_change_fabric(g2g, KIWI_G2G_FABRIC_DO_ACTIVATE));
	kiwi_g2g_close(g2g);
}

static void test_ports_peers(void)
{
	struct kiwi_g2g_port_set set = { .config = KIWI_G2G_PORT_ENABLED, .mtu = 4096, .lanes = 1 };
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_g2g_port_query port;
	struct kiwi_g2g_peer_query peer;
	struct kiwi_g2g_log_read log;

	need(kiwi_g2g_set_port(g2g, 2, &set));
	need(kiwi_g2g_query_port(g2g, 2, &port));
	ok(port.config == KIWI_G2G_PORT_ENABLED && port.mtu == 4096, "a port is set");
	ok(kiwi_g2g_query_port(g2g, 4, &port) == -EINVAL && says("query port"),
	   "a port that is not there");
	need(kiwi_g2g_query_peer(g2g, 15, &peer));
	ok(peer.state == KIWI_G2G_PEER_ESTABLISHED, "a peer");
	ok(kiwi_g2g_query_peer(g2g, 16, &peer) == -EINVAL && says("accelerator 16, below 16"),
	   "a peer that cannot be");
	ok(kiwi_g2g_change_peer(g2g, 65536 + 1, KIWI_G2G_PEER_DO_ISOLATE) == -EINVAL &&
	   says("65537"), "a peer of more than 16 bits");
	need(kiwi_g2g_change_peer(g2g, 1, KIWI_G2G_PEER_DO_ISOLATE));
	fake_g2g_lag(4);
	ok(!kiwi_g2g_wait_peer(g2g, 1, KIWI_G2G_PEER_ESTABLISHED, 1000), "a peer is waited for");
	ok(kiwi_g2g_wait_peer(g2g, 1, KIWI_G2G_PEER_ISOLATED, 0) == -ETIMEDOUT &&
	   says("peer 1 is ESTABLISHED") && says("ISOLATED"), "no time at all");
	fake_g2g_lag(0);
	need(kiwi_g2g_read_log(g2g, 8, &log));
	ok(log.count == 1 && log.record[0].sequence == 9, "the log is read");
	kiwi_g2g_close(g2g);
}

static void test_images(void)
{
	static uint8_t image[FAKE_IMAGE_MAX + 1];
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_g2g_image_query slot;
	const uint8_t *got;
	char name[65];
	uint32_t bytes;
	size_t i;

	for (i = 0; i < sizeof(image); i++)
		image[i] = (uint8_t)(i * 7 + i / 251);
	need(kiwi_g2g_write_image(g2g, 1, image, FAKE_IMAGE_MAX));
	got = fake_g2g_image(&bytes);
	ok(bytes == FAKE_IMAGE_MAX && !memcmp(got, image, bytes), "an image in chunks");
	need(kiwi_g2g_write_image(g2g, 1, image, KIWI_G2G_IMAGE_CHUNK));
	need(kiwi_g2g_query_image(g2g, 1, &slot));
	ok(slot.state == KIWI_G2G_SLOT_LOADED && slot.written == KIWI_G2G_IMAGE_CHUNK,
	   "an image of exactly one");
	ok(kiwi_g2g_write_image(g2g, 1, image, FAKE_IMAGE_MAX + 1) == -EINVAL && says("200001") &&
	   says("200000"), "an image too large: value and limit");
	ok(kiwi_g2g_write_image(g2g, 1, image, 0) == -EINVAL, "an image of nothing");
	fake_fail(_IOC_NR(KIWI_G2G_IMAGE_WRITE), 2, EIO, NULL);
	ok(kiwi_g2g_write_image(g2g, 1, image, FAKE_IMAGE_MAX) == -EIO, "the second chunk fails");
	need(kiwi_g2g_load_image(g2g, 1, "sue.img"));
	memset(name, 'x', 64);
	name[64] = 0;
	ok(kiwi_g2g_load_image(g2g, 1, name) == -EINVAL && says("64") && says("63"),
	   "a name too long");
	ok(kiwi_g2g_load_image(g2g, 1, name + 1) == -ENOENT && says("load image"),
	   "the longest name");
	need(kiwi_g2g_change_image(g2g, 1, KIWI_G2G_IMAGE_DO_VERIFY));
	ok(kiwi_g2g_change_image(g2g, 2, KIWI_G2G_IMAGE_DO_ACTIVATE) == -EINVAL, "no such slot");
	kiwi_g2g_close(g2g);
}

static void test_export(void)
{
	struct kiwi_export_config config = export_config;
	struct kiwi_g2g_export_query now;
	struct kiwi_g2g *g2g = open_g2g();
	const struct kiwi_g2g_export_create *asked;
	uint16_t none = FAKE_ACCELS;
	struct kiwi_export *exp;
	unsigned int i;

	need(kiwi_export_create(g2g, &config, &exp));
	asked = fake_g2g_export();
	ok(asked->fd == 9 && asked->rights == RIGHTS && asked->offset == 4096 &&
	   asked->length == 8192 && asked->user_data == 33, "an export");
	for (i = 0; i < sizeof(asked->grantees); i++)
		holds(asked->grantees[i] == (i == 0 ? 1 << 1 | 1 << 5 : i == 1 ? 1 << 7 : 0));
	holds(exp->handle[0] && !memcmp(exp->handle, asked->handle, 16) && exp->length == 8192);
	say("its grantees and its handle");
	config.grantees = &none;
	config.nr_grantees = 1;
	ok(kiwi_export_create(g2g, &config, &exp) == -EINVAL && says("grantee 16, below 16"),
	   "a grantee that cannot be");
	fake_g2g_lag(2);
	need(kiwi_export_revoke(exp));
	need(kiwi_export_query(exp, &now));
	ok(now.state == KIWI_G2G_EXPORT_REVOKING, "revoking takes its time");
	ok(!kiwi_export_wait(exp, KIWI_G2G_EXPORT_REVOKED, 1000), "and is waited for");
	ok(kiwi_export_wait(exp, KIWI_G2G_EXPORT_LIVE, 1) == -ETIMEDOUT && says("REVOKED") &&
	   says("LIVE"), "there is no way back");
	fake_g2g_lag(0);
	need(kiwi_export_destroy(exp));
	ok(fake_objects() == 1, "it is gone");
	kiwi_g2g_close(g2g);
}

static void test_import(void)
{
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_g2g_import_dmabuf dmabuf;
	struct kiwi_g2g_import_query now;
	struct kiwi_export *exp;
	struct kiwi_import *imp, *other;
	uint8_t wrong[16] = { 1 };
	uint64_t before;

	need(kiwi_export_create(g2g, &export_config, &exp));
	fake_g2g_lag(3);
	need(kiwi_import_bind(g2g, 5, exp->handle, RIGHTS, 44, &imp));
	need(kiwi_import_query(imp, &now));
	ok(now.state == KIWI_G2G_WINDOW_BINDING && now.accel == 5, "an import that is not yet bound");
	ok(!kiwi_import_wait(imp) && !imp->addr, "binding is waited for");
	ok(kiwi_import_dmabuf(imp, &dmabuf) == -EINVAL, "no DMA-buf before it is mapped");
	ok(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, 0, 1, 0, &before) == -EOPNOTSUPP,
	   "no atomics either");
	fake_g2g_lag(1000);
	need(kiwi_import_bind(g2g, 5, exp->handle, RIGHTS, 44, &other));
	fake_g2g_lag(0);
	need(kiwi_import_destroy(other));

	need(kiwi_import_map(imp, KIWI_G2G_IMPORT_WC, 4096, 100));
	ok(imp->addr && imp->length == 100, "an import is mapped");
	((volatile char *)imp->addr)[FAKE_MAP_SIZE - 1] = 1;
	fake_g2g_atomics()[64 / 8 * 3 + 3] = 1234;	/* RESULT of cell 3; STATUS is OK */
	ok(!kiwi_import_atomic(imp, 3, KIWI_G2G_CMP_SWAP, 88, 5, 6, &before) && before == 1234 &&
	   fake_g2g_atomics()[64 / 8 * 3] == 5 && fake_g2g_atomics()[64 / 8 * 3 + 1] == 6 &&
	   fake_g2g_atomics()[64 / 8 * 3 + 2] == (3ULL << 56 | 88), "an atomic in its cell");
	fake_g2g_atomics()[4] = KIWI_G2G_ST_PROTECTION;
	ok(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, 0, 0, 0, &before) == -EREMOTEIO &&
	   says("PROTECTION"), "one that is refused");
	fake_g2g_atomics()[4] = UINT64_MAX;
	ok(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, 0, 0, 0, &before) == -EREMOTEIO && says("?"),
	   "one of a device that is gone");
	ok(kiwi_import_atomic(imp, KIWI_G2G_CELLS, KIWI_G2G_SWAP, 0, 0, 0, &before) == -EINVAL &&
	   says("cell 64, below 64"), "no such cell");
	holds(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, 4, 0, 0, &before) == -EINVAL);
	holds(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, 96, 0, 0, &before) == -EINVAL);
	holds(kiwi_import_atomic(imp, 0, KIWI_G2G_SWAP, -8ULL, 0, 0, &before) == -EINVAL);
	say("atomics misaligned or out of bounds");
	need(kiwi_import_dmabuf(imp, &dmabuf));
	ok(dmabuf.fd == 78 && dmabuf.length == FAKE_MAP_SIZE, "an import as a DMA-buf");

	ok(kiwi_export_destroy(exp) == -EBUSY, "an export in use");
	need(kiwi_export_revoke(exp));
	ok(kiwi_import_wait(imp) == -ECONNREFUSED && says("DEAD") && says("REVOKED") &&
	   says("accelerator 5"), "an import that died");
	need(kiwi_import_destroy(imp));
	need(kiwi_export_destroy(exp));
	ok(fake_objects() == 1, "all is gone");

	need(kiwi_export_create(g2g, &export_config, &exp));
	need(kiwi_import_bind(g2g, 5, wrong, RIGHTS, 0, &imp));
	ok(kiwi_import_wait(imp) == -ECONNREFUSED && says("NO_ACCESS"), "a handle that is none");
	ok(kiwi_import_bind(g2g, 65536 + 5, exp->handle, RIGHTS, 0, &imp) == -EINVAL &&
	   says("65541"), "an exporter of more than 16 bits");
	kiwi_g2g_close(g2g);
	ok(fake_objects() == 0, "with the handle all ends");
}

static void test_words(void)
{
	unsigned int i;

	for (i = 0; i < KIWI_G2G_WHY_COUNT; i++)
		holds(strcmp(kiwi_g2g_reason_text(i), "?"));
	holds(!strcmp(kiwi_g2g_reason_text(i), "?"));
	for (i = 0; i < KIWI_G2G_FABRIC_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_fabric_state_text(i), "?"));
	for (i = 0; i < KIWI_G2G_PORT_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_port_state_text(i), "?"));
	for (i = 0; i < KIWI_G2G_PEER_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_peer_state_text(i), "?"));
	for (i = 0; i < KIWI_G2G_SLOT_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_slot_state_text(i), "?"));
	for (i = KIWI_G2G_EXPORT_LIVE; i < KIWI_G2G_EXPORT_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_export_state_text(i), "?"));
	for (i = KIWI_G2G_WINDOW_BINDING; i < KIWI_G2G_WINDOW_STATE_COUNT; i++)
		holds(strcmp(kiwi_g2g_import_state_text(i), "?"));
	for (i = KIWI_G2G_EVENT_FABRIC; i <= KIWI_G2G_EVENT_IMAGE; i++)
		holds(strcmp(kiwi_g2g_event_text(i), "?"));
	for (i = KIWI_G2G_LOG_LOAD; i <= KIWI_G2G_LOG_ID_CONFLICT; i++)
		holds(strcmp(kiwi_g2g_log_text(i), "?"));
	holds(!strcmp(kiwi_g2g_status_text(KIWI_G2G_ST_NO_RESOURCE), "NO_RESOURCE"));
	holds(!strcmp(kiwi_g2g_image_error_text(KIWI_G2G_IMAGE_HASH), "HASH"));
	say("each value has a word, and what is none has none");
}

/* Everything once, undone in order; false when a call failed. */
static bool everything(void)
{
	struct kiwi_g2g *g2g;
	struct kiwi_export *exp;
	struct kiwi_import *imp;
	bool done;

	if (kiwi_g2g_open(FAKE_G2G_NAME, &g2g))
		return false;
	done = !kiwi_export_create(g2g, &export_config, &exp) &&
	       !kiwi_import_bind(g2g, 1, exp->handle, RIGHTS, 0, &imp) && !kiwi_import_wait(imp) &&
	       !kiwi_import_map(imp, 0, 0, 4096) && !kiwi_import_destroy(imp) &&
	       !kiwi_export_destroy(exp);
	kiwi_g2g_close(g2g);
	return done;
}

static void test_nothing_left(void)
{
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_export *exp;
	struct kiwi_import *imp;

	NOTHING_LEFT(kiwi_export_create(g2g, &export_config, &exp));
	NOTHING_LEFT(kiwi_import_bind(g2g, 1, exp->handle, RIGHTS, 0, &imp));
	say("a call that fails in the middle undoes what it did");
	kiwi_g2g_close(g2g);
}

static void test_removed(void)
{
	struct kiwi_file_event in = { .type = KIWI_G2G_EVENT_IMPORT, .id = 3, .user_data = 77 }, out;
	struct kiwi_g2g *g2g = open_g2g();
	struct kiwi_export *exp;
	struct kiwi_import *imp;

	need(kiwi_export_create(g2g, &export_config, &exp));
	need(kiwi_import_bind(g2g, 1, exp->handle, RIGHTS, 0, &imp));
	need(kiwi_import_map(imp, 0, 0, 4096));
	ok(kiwi_g2g_next_event(g2g, &out, 0) == 0, "no event");
	fake_event(&in);
	ok(kiwi_g2g_next_event(g2g, &out, 0) == 1 && out.user_data == 77 && out.id == 3, "an event");
	fake_down(ENODEV);
	ok(kiwi_g2g_next_event(g2g, &out, 0) == -ENODEV && says("g2g3"), "the end of events");
	ok(!kiwi_import_destroy(imp) && !kiwi_export_destroy(exp),
	   "after removal handles end all the same");
	kiwi_g2g_close(g2g);
}

int main(void)
{
	test_names();
	test_fabric();
	test_ports_peers();
	test_images();
	test_export();
	test_import();
	test_words();
	fixture_sweep(everything, 8);
	test_nothing_left();
	test_removed();
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
