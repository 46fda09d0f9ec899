/* SPDX-License-Identifier: GPL-2.0 */
/* What an open file of /dev/kiwi/snicN has beside what files of all parts have. */
#ifndef KSNIC_FILE_H
#define KSNIC_FILE_H

#include <kiwi/part.h>

struct ksnic;
struct ksnic_errpage;

/**
 * struct ksnic_file - one open file
 * @file: what files of all parts have
 * @errpage: where errors are published, NULL without; set once, under files_lock
 */
struct ksnic_file {
	struct kiwi_file file;
	struct ksnic_errpage *errpage;
};

static inline struct ksnic_file *to_ksnic_file(struct kiwi_file *file)
{
	return container_of(file, struct ksnic_file, file);
}

/* For struct kiwi_part_ops */
void ksnic_file_told(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		     const struct kiwi_file_event *event);
void ksnic_file_disowned(struct kiwi_owner *owner, const struct kiwi_obj *obj);
void ksnic_file_down(struct kiwi_file *file);
void ksnic_file_clear(struct kiwi_file *file);
void ksnic_file_end(struct kiwi_file *file);

int ksnic_file_set_errpage(struct kiwi_file *file, struct ksnic_errpage *ep);
void ksnic_files_port(struct ksnic *ks, u32 port, u32 state);

#endif /* KSNIC_FILE_H */
