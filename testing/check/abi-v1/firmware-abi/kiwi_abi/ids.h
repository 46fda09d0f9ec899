/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * PCI identity. PROVISIONAL: the vendor has published none; these numbers are
 * [ours], stand nowhere else, and are to be replaced when real ones are known.
 */
#ifndef KIWI_ABI_IDS_H
#define KIWI_ABI_IDS_H

#define KIWI_PCI_VENDOR_ID	0x4b57
#define KIWI_PCI_DEVICE_SNIC	0x0800
#define KIWI_PCI_DEVICE_G2G	0x0600

#endif /* KIWI_ABI_IDS_H */
