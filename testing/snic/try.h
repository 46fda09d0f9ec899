/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRY_H
#define TRY_H

/* Does one operation, for scenarios in which the device misbehaves; an exit status. */
int try(const char *what);

#endif /* TRY_H */
