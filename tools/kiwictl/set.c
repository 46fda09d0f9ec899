// SPDX-License-Identifier: GPL-2.0
/* What touches others who use the device: needs CAP_NET_ADMIN. */
#include "kiwictl.h"

#include "../common/gid.h"
#include "../common/say.h"

#include <kiwi/kiwi.h>

#include <errno.h>
#include <string.h>

static struct kiwi_device *open_device(const char *name)
{
	struct kiwi_device *dev;

	if (kiwi_open(name, &dev))
		die("%s", kiwi_error());
	return dev;
}

static int finish(struct kiwi_device *dev, int rc)
{
	if (rc == -EPERM)
		complain("%s: this needs CAP_NET_ADMIN", kiwi_error());
	else if (rc)
		complain("%s", kiwi_error());
	kiwi_close(dev);
	return rc ? EXIT_FAILED : 0;
}

static uint32_t port_arg(const char *text)
{
	return (uint32_t)number_arg("port", text, 1, 255);
}

static unsigned int mtu_arg(const char *text)
{
	unsigned int code = kiwi_mtu_code((unsigned int)number_arg("MTU", text, 1, 65535));

	if (!code)
		die_usage("MTU '%s' is none of 256, 512, 1024, 2048, 4096", text);
	return code;
}

int cmd_port_set(int argc, char **argv)
{
	unsigned int mtu = 0, i;
	struct kiwi_snic_query_port now;
	struct kiwi_device *dev;
	int enabled = -1, rc;
	uint32_t port;

	if (argc < 3)
		die_usage("port set DEV N [up|down] [mtu BYTES]");
	port = port_arg(argv[1]);
	for (i = 2; i < (unsigned int)argc; i++) {
		if (!strcmp(argv[i], "up"))
			enabled = 1;
		else if (!strcmp(argv[i], "down"))
			enabled = 0;
		else if (!strcmp(argv[i], "mtu") && i + 1 < (unsigned int)argc)
			mtu = mtu_arg(argv[++i]);
		else
			die_usage("unexpected '%s'", argv[i]);
	}
	dev = open_device(argv[0]);
	rc = kiwi_query_port(dev, port, &now);
	if (!rc)
		rc = kiwi_set_port(dev, port, enabled < 0 ? now.enabled : enabled,
				   mtu ? mtu : now.mtu);
	return finish(dev, rc);
}

static int set_gid(char **argv, const uint8_t *gid)
{
	uint32_t port = port_arg(argv[1]);
	unsigned int index = (unsigned int)number_arg("GID index", argv[2], 0, 255);
	struct kiwi_device *dev = open_device(argv[0]);

	return finish(dev, kiwi_set_gid(dev, port, index, gid));
}

int cmd_gid_set(int argc, char **argv)
{
	uint8_t gid[16];

	if (argc != 4)
		die_usage("gid set DEV N INDEX ADDRESS|none");
	if (!strcmp(argv[3], "none"))
		return set_gid(argv, NULL);
	if (!gid_parse(argv[3], gid))
		die_usage("'%s' is no IPv4 or IPv6 address", argv[3]);
	return set_gid(argv, gid);
}

int cmd_gid_clear(int argc, char **argv)
{
	if (argc != 3)
		die_usage("gid clear DEV N INDEX");
	return set_gid(argv, NULL);
}
