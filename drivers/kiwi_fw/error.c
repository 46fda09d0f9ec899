// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/stdarg.h>

#include <kiwi/compat.h>
#include <kiwi/error.h>

/**
 * kiwi_fail() - fill in why a call fails
 * @err: to be filled
 * @ret: negative errno
 * @value: the value refused, or 0
 * @limit: the limit it broke, or 0
 * @fmt: the text, in the manner of printf
 *
 * Return: @ret
 */
int kiwi_fail(struct kiwi_error *err, int ret, u64 value, u64 limit, const char *fmt, ...)
{
	va_list args;

	err->value = value;
	err->limit = limit;
	err->refused = false;
	va_start(args, fmt);
	vscnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fail, "KIWI_FW");

/**
 * kiwi_errno_text() - what an errno means where nothing better is known
 * @ret: negative errno
 *
 * Return: a phrase
 */
const char *kiwi_errno_text(int ret)
{
	switch (ret) {
	case -ENOMEM:
		return "out of kernel memory";
	case -EFAULT:
		return "memory of the caller cannot be accessed";
	case -ENODEV:
		return "the device was removed or reset";
	case -EIO:
		return "the device is in a fatal state and needs a reset";
	case -EOPNOTSUPP:
		return "this device, kernel or DMA-buf exporter cannot do it";
	case -ETIMEDOUT:
		return "the firmware did not answer in its time limit";
	case -EPROTO:
		return "the firmware's reply breaks its ABI";
	case -EINTR:
	case -ERESTARTSYS:
		return "interrupted by a signal";
	default:
		return "failed";
	}
}
EXPORT_SYMBOL_NS_GPL(kiwi_errno_text, "KIWI_FW");

/**
 * kiwi_fail_plain() - fill in why a call fails, where there is no more to say than the errno
 * @err: to be filled
 * @ret: negative errno
 *
 * Return: @ret
 */
int kiwi_fail_plain(struct kiwi_error *err, int ret)
{
	return kiwi_fail(err, ret, 0, 0, "%s", kiwi_errno_text(ret));
}
EXPORT_SYMBOL_NS_GPL(kiwi_fail_plain, "KIWI_FW");
