/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A G2G IO die behind the fake firmware interface: keeps its exports and windows as the ABI says,
 * and notes when granules are mapped twice.
 */
#ifndef KG2G_FAKE_G2G_H
#define KG2G_FAKE_G2G_H

#include <linux/sizes.h>

#include <kiwi_abi/g2g.h>

#include "../../kiwi_fw/tests/fake_queues.h"

#define FAKE_BAR_LEN	((u64)SZ_1G)
#define FAKE_OBJECTS	16
#define FAKE_IMAGE_MAX	(3 * KIWI_G2G_IMAGE_CHUNK)

/**
 * struct fake_export - an export of the device
 * @number: 0 for none
 * @state: enum kiwi_g2g_export_state
 * @bindings: live
 * @in: as created
 */
struct fake_export {
	u32 number;
	u8 state;
	u32 bindings;
	struct kiwi_g2g_create_export_in in;
};

/**
 * struct fake_window - a window of the device
 * @number: 0 for none
 * @state: reply of QUERY_WINDOW
 */
struct fake_window {
	u32 number;
	struct kiwi_g2g_window state;
};

/**
 * struct fake_g2g - the die
 * @fw: takes the commands
 * @queues: its queues
 * @pdev: function whose DMA addresses it is given
 * @caps: reply of QUERY_CAPS
 * @fabric: reply of QUERY_FABRIC
 * @port: reply of QUERY_PORT
 * @peer: reply of QUERY_PEER
 * @slot: replies of QUERY_IMAGE
 * @image: bytes written
 * @log: reply of READ_LOG
 * @generation: of the routes in force
 * @paused: PAUSE was accepted and not ended
 * @drains: PAUSE ends with an event DRAINED at once
 * @undelivered: pause event of before, that the driver has not been given yet, or 0
 * @bind_state: that a window has when BIND_WINDOW is replied
 * @exports: alive
 * @windows: alive
 */
struct fake_g2g {
	struct kiwi_fw fw;
	struct fake_queues queues;
	struct pci_dev *pdev;
	struct kiwi_g2g_caps caps;
	struct kiwi_g2g_fabric fabric;
	struct kiwi_g2g_port port;
	struct kiwi_g2g_peer peer;
	struct kiwi_g2g_slot slot[2];
	u8 image[FAKE_IMAGE_MAX];
	struct kiwi_g2g_log log;
	u32 generation;
	bool paused;
	bool drains;
	u8 undelivered;
	u8 bind_state;
	struct fake_export exports[FAKE_OBJECTS];
	struct fake_window windows[FAKE_OBJECTS];
};

void fake_g2g_init(struct fake_g2g *g2g, struct pci_dev *pdev);
struct fake_export *fake_g2g_export(struct fake_g2g *g2g);
struct fake_window *fake_g2g_window(struct fake_g2g *g2g);
void fake_g2g_window_state(struct fake_g2g *g2g, u32 number, u8 state, u8 reason);
void fake_g2g_acknowledge(struct fake_g2g *g2g, u32 number, u32 isolated);

#endif /* KG2G_FAKE_G2G_H */
