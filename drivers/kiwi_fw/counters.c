// SPDX-License-Identifier: GPL-2.0
/* What happened, for people: counters in debugfs, kiwi_fw/<function>/. */
#include <linux/debugfs.h>

#include "core.h"

static const char *const kiwi_fw_counter_names[KIWI_FW_COUNTERS] = {
	[KIWI_FW_COMMANDS]		= "commands",
	[KIWI_FW_REFUSED]		= "commands_refused",
	[KIWI_FW_RESCUED]		= "commands_rescued",
	[KIWI_FW_TIMEOUTS]		= "command_timeouts",
	[KIWI_FW_LATE_REPLIES]		= "late_replies",
	[KIWI_FW_UNEXPECTED_REPLIES]	= "unexpected_replies",
	[KIWI_FW_BAD_REPLIES]		= "bad_replies",
	[KIWI_FW_EVENTS]		= "events",
	[KIWI_FW_UNKNOWN_EVENTS]	= "unknown_events",
	[KIWI_FW_UNOWNED_COMPLETIONS]	= "unowned_completions",
	[KIWI_FW_LOST_EVENTS]		= "lost_events",
};

static struct dentry *kiwi_fw_debugfs_root;

/**
 * kiwi_fw_debugfs_init() - make the folder of all devices
 */
void kiwi_fw_debugfs_init(void)
{
	kiwi_fw_debugfs_root = debugfs_create_dir("kiwi_fw", NULL);
}

/**
 * kiwi_fw_debugfs_exit() - undo kiwi_fw_debugfs_init()
 */
void kiwi_fw_debugfs_exit(void)
{
	debugfs_remove(kiwi_fw_debugfs_root);
}

/**
 * kiwi_fw_counters_show() - make the folder of a device
 * @fw: device
 */
void kiwi_fw_counters_show(struct kiwi_fw *fw)
{
	unsigned int n;

	fw->debugfs = debugfs_create_dir(pci_name(fw->pdev), kiwi_fw_debugfs_root);
	for (n = 0; n < KIWI_FW_COUNTERS; n++)
		debugfs_create_atomic_t(kiwi_fw_counter_names[n], 0444, fw->debugfs,
					&fw->counters[n]);
}

/**
 * kiwi_fw_counters_hide() - undo kiwi_fw_counters_show()
 * @fw: device
 */
void kiwi_fw_counters_hide(struct kiwi_fw *fw)
{
	debugfs_remove(fw->debugfs);
}
