// SPDX-License-Identifier: GPL-2.0
/* Personality images: into a slot that is not active, verified there, and activated from it. */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/firmware.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "kg2g.h"

#define IMAGE_FOLDER	"kiwi/g2g/"

static int slot_check(const struct kg2g *kg, u32 slot, struct kiwi_error *err)
{
	if (slot < kg->caps.slots)
		return 0;
	return kiwi_fail(err, -EINVAL, slot, kg->caps.slots - 1, "slot %u is not in 0..%llu", slot,
			 kg->caps.slots - 1);
}

static int length_check(const struct kg2g *kg, size_t length, struct kiwi_error *err)
{
	if (length >= sizeof(struct kiwi_g2g_image) && length <= kg->caps.image_max)
		return 0;
	return kiwi_fail(err, -EINVAL, length, kg->caps.image_max,
			 "image of %zu bytes is not in %zu..%llu (image_max)", length,
			 sizeof(struct kiwi_g2g_image), kg->caps.image_max);
}

/* Upload -------------------------------------------------------------------------- */

/**
 * struct chunk - what the device reads a part of an image from
 * @dev: that it is for
 * @bytes: KIWI_G2G_IMAGE_CHUNK of them
 * @dma: of @bytes
 */
struct chunk {
	struct device *dev;
	void *bytes;
	dma_addr_t dma;
};

static int chunk_alloc(struct kg2g *kg, struct chunk *chunk, struct kiwi_error *err)
{
	chunk->dev = kg->part.dev.parent;
	chunk->bytes = dma_alloc_coherent(chunk->dev, KIWI_G2G_IMAGE_CHUNK, &chunk->dma,
					  GFP_KERNEL);
	return chunk->bytes ? 0 : kiwi_fail_plain(err, -ENOMEM);
}

static void chunk_free(struct chunk *chunk)
{
	dma_free_coherent(chunk->dev, KIWI_G2G_IMAGE_CHUNK, chunk->bytes, chunk->dma);
}

static int upload(struct kg2g *kg, u32 slot, const u8 *data, u32 length, struct kiwi_error *err)
{
	struct chunk chunk;
	u32 offset, len;
	int ret;

	ret = chunk_alloc(kg, &chunk, err);
	if (ret)
		return ret;
	ret = kg2g_cmd_begin_image(kg->part.fw, slot, length, err);
	for (offset = 0; !ret && offset < length; offset += len) {
		len = min_t(u32, length - offset, KIWI_G2G_IMAGE_CHUNK);
		memcpy(chunk.bytes, data + offset, len);
		ret = kg2g_may_go_on(kg, err);
		if (!ret)
			ret = kg2g_cmd_write_image(kg->part.fw, slot, offset, len, chunk.dma, err);
	}
	chunk_free(&chunk);
	return ret;
}

static int load(struct kg2g *kg, u32 slot, const struct firmware *file, struct kiwi_error *err)
{
	int ret;

	ret = length_check(kg, file->size, err);
	if (ret)
		return ret;
	mutex_lock(&kg->admin);
	ret = upload(kg, slot, file->data, file->size, err);
	if (!ret)
		ret = kg2g_cmd_verify_image(kg->part.fw, slot, err);
	mutex_unlock(&kg->admin);
	return ret;
}

/**
 * kg2g_image_load() - load a file of the kernel's firmware folders, and verify it
 * @kg: the device
 * @slot: to load into
 * @name: of the file, without folder
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_image_load(struct kg2g *kg, u32 slot, const char *name, struct kiwi_error *err)
{
	char path[sizeof(IMAGE_FOLDER) + 64];
	const struct firmware *file;
	int ret;

	ret = slot_check(kg, slot, err);
	if (ret)
		return ret;
	if (!*name || strchr(name, '/') || name[0] == '.')
		return kiwi_fail(err, -EINVAL, 0, 0, "name is no plain file name");
	scnprintf(path, sizeof(path), IMAGE_FOLDER "%s", name);
	ret = firmware_request_nowarn(&file, path, &kg->part.dev);
	if (ret)
		return kiwi_fail(err, ret, 0, 0, "%s could not be loaded (%d)", path, ret);
	ret = load(kg, slot, file, err);
	release_firmware(file);
	return ret;
}

static int write_check(const struct kg2g *kg, const struct kiwi_g2g_image_write *w,
		       struct kiwi_error *err)
{
	int ret;

	ret = slot_check(kg, w->slot, err);
	if (!ret)
		ret = length_check(kg, w->length, err);
	if (ret)
		return ret;
	if (!w->len || w->len > KIWI_G2G_IMAGE_CHUNK || w->offset > w->length ||
	    w->len > w->length - w->offset)
		return kiwi_fail(err, -EINVAL, w->len, KIWI_G2G_IMAGE_CHUNK,
				 "len %u at %u is not in 1..%u, or goes beyond length %u", w->len,
				 w->offset, KIWI_G2G_IMAGE_CHUNK, w->length);
	return 0;
}

/**
 * kg2g_image_write() - load a part of an image
 * @kg: the device
 * @w: the part
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_image_write(struct kg2g *kg, const struct kiwi_g2g_image_write *w,
		     struct kiwi_error *err)
{
	struct chunk chunk;
	int ret;

	ret = write_check(kg, w, err);
	if (!ret)
		ret = chunk_alloc(kg, &chunk, err);
	if (ret)
		return ret;
	if (copy_from_user(chunk.bytes, u64_to_user_ptr(w->data), w->len)) {
		ret = kiwi_fail_plain(err, -EFAULT);
		goto free;
	}
	mutex_lock(&kg->admin);
	if (!w->offset)
		ret = kg2g_cmd_begin_image(kg->part.fw, w->slot, w->length, err);
	if (!ret)
		ret = kg2g_cmd_write_image(kg->part.fw, w->slot, w->offset, w->len, chunk.dma,
					   err);
	mutex_unlock(&kg->admin);
free:
	chunk_free(&chunk);
	return ret;
}

/* Use ------------------------------------------------------------------------------- */

int kg2g_image_change(struct kg2g *kg, u32 slot, u32 op, struct kiwi_error *err)
{
	int ret;

	ret = slot_check(kg, slot, err);
	if (ret)
		return ret;
	mutex_lock(&kg->admin);
	switch (op) {
	case KIWI_G2G_IMAGE_DO_VERIFY:
		ret = kg2g_cmd_verify_image(kg->part.fw, slot, err);
		break;
	case KIWI_G2G_IMAGE_DO_ACTIVATE:
		ret = kg2g_cmd_activate_image(kg->part.fw, slot, err);
		if (!ret)
			kg2g_tell(kg, KIWI_G2G_EVENT_IMAGE, slot, 0, 0);
		kg2g_name_holders(kg, ret, err);
		break;
	default:
		ret = kiwi_fail(err, -EINVAL, op, KIWI_G2G_IMAGE_DO_ACTIVATE, "op %u is unknown",
				op);
	}
	mutex_unlock(&kg->admin);
	return ret;
}

int kg2g_image_query(struct kg2g *kg, struct kiwi_g2g_image_query *q, struct kiwi_error *err)
{
	const struct kiwi_g2g_image *image;
	struct kiwi_g2g_slot out;
	int ret;

	ret = slot_check(kg, q->slot, err);
	if (!ret)
		ret = kg2g_cmd_query_image(kg->part.fw, q->slot, &out, err);
	if (ret)
		return ret;
	image = &out.image;
	*q = (struct kiwi_g2g_image_query) {
		.size = q->size,
		.slot = q->slot,
		.written = le32_to_cpu(out.written),
		.state = out.state,
		.error = out.error,
		.active = out.active,
		.semantics = image->semantics,
		.header_kind = image->header_kind,
		.id_bits = image->id_bits,
		.addr_bits = image->addr_bits,
		.reliability = image->reliability,
		.flow = image->flow,
		.atomics = image->atomics,
		.vcs = image->vcs,
		.mtu = le16_to_cpu(image->mtu),
		.id = le16_to_cpu(image->id),
		.version = le32_to_cpu(image->version),
		.image_flags = le32_to_cpu(image->flags),
	};
	memcpy(q->name, image->name, sizeof(q->name));
	memcpy(q->hash, image->hash, sizeof(q->hash));
	return 0;
}
