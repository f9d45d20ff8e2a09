/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - owns the texts of errors, and converts errno. */
#include "base/err.h"

#include <errno.h>

static const struct {
	int number;
	const char *text;
} texts[] = {
    {GK_OK, "success"},
#define GK_ERR(name, number, text) {name, text},
#include <gpukit/errors.def>
#undef GK_ERR
};

const char *gk_strerror(int err)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].number == err)
			return texts[i].text;
	return "unknown error";
}

static const struct {
	int error;
	int err;
} from_errno[] = {
    {ENOENT, GK_ERR_NOT_FOUND},  {ENOTDIR, GK_ERR_NOT_FOUND},
    {ESRCH, GK_ERR_NOT_FOUND},   {ENOMEM, GK_ERR_NOMEM},
    {EACCES, GK_ERR_PERMISSION}, {EPERM, GK_ERR_PERMISSION},
    {EROFS, GK_ERR_PERMISSION},  {ENOSPC, GK_ERR_NO_SPACE},
    {EDQUOT, GK_ERR_NO_SPACE},   {EEXIST, GK_ERR_EXISTS},
    {EINVAL, GK_ERR_INVALID},    {ENAMETOOLONG, GK_ERR_INVALID},
    {ETIMEDOUT, GK_ERR_TIMEOUT}, {EAGAIN, GK_ERR_TIMEOUT},
    {ERANGE, GK_ERR_RANGE},      {ENFILE, GK_ERR_TOO_MANY},
    {EMFILE, GK_ERR_TOO_MANY},
};

int gk_err_from_errno(int error)
{
	for (size_t i = 0; i < sizeof from_errno / sizeof *from_errno; i++)
		if (from_errno[i].error == error)
			return from_errno[i].err;
	return GK_ERR_IO;
}
