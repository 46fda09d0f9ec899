/* SPDX-License-Identifier: GPL-2.0 */
/* What the program does with a fabric that is up. */
#ifndef G2G_TEST_H
#define G2G_TEST_H

#include "fabric.h"

/* pairs.c */
void pairs(struct fabric *f, char **argv);

/* traffic.c */
void traffic(struct fabric *f, char **argv);
void revoke_export(struct fabric *f, char **argv);

/* grants.c */
void grants(struct fabric *f, char **argv);
void edges(struct fabric *f, char **argv);
void partition(struct fabric *f, char **argv);

/* images.c */
void images(struct fabric *f, char **argv);
void part_image(struct fabric *f, char **argv);

#endif /* G2G_TEST_H */
