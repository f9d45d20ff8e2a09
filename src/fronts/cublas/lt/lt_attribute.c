/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_attribute.c - owns the tables of attributes of cuBLASLt's objects and
 * their initial values; gets and sets attributes.
 */
#include "fronts/cublas/lt/lt.h"

#include <string.h>

#define ROW(of, id, type, member)                                              \
	{                                                                      \
		id, offsetof(struct of, member), sizeof(type)                  \
	}

const struct lt_attribute lt_layout_attributes[] = {
#define LAYOUT(name, id, type, member, initial)                                \
	ROW(lt_layout, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_layout lt_layout_initial = {
#define LAYOUT(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_matmul_attributes[] = {
#define MATMUL(name, id, type, member, initial)                                \
	ROW(lt_matmul, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_matmul lt_matmul_initial = {
#define MATMUL(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_transform_attributes[] = {
#define TRANSFORM(name, id, type, member, initial)                             \
	ROW(lt_transform, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_transform lt_transform_initial = {
#define TRANSFORM(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_emulation_attributes[] = {
#define EMULATION(name, id, type, member, initial)                             \
	ROW(lt_emulation, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_emulation lt_emulation_initial = {
#define EMULATION(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_preference_attributes[] = {
#define PREFERENCE(name, id, type, member, initial)                            \
	ROW(lt_preference, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_preference lt_preference_initial = {
#define PREFERENCE(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_capability_attributes[] = {
#define CAPABILITY(name, id, type, member, initial)                            \
	ROW(lt_capability, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_capability lt_capability_initial = {
#define CAPABILITY(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

const struct lt_attribute lt_algo_attributes[] = {
#define CONFIG(name, id, type, member, initial) ROW(lt_algo, id, type, member),
#include "abi/libraries/cublaslt_attribute.def"
    {0, 0, 0},
};
const struct lt_algo lt_algo_initial = {
    .magic = LT_ALGO_MAGIC,
#define CONFIG(name, id, type, member, initial) .member = (initial),
#include "abi/libraries/cublaslt_attribute.def"
};

static const struct lt_attribute *find_attribute(const struct lt_attribute *all,
						 int id)
{
	for (; all->size; all++)
		if (all->id == id)
			return all;
	return NULL;
}

cublasStatus_t lt_get(const struct lt_attribute *attributes, const void *object,
		      int id, void *buf, size_t size, size_t *written)
{
	const struct lt_attribute *a = find_attribute(attributes, id);

	if (!object || !a || (size ? !buf || size != a->size : !written))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (size)
		memcpy(buf, (const char *)object + a->offset, size);
	if (written)
		*written = a->size;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t lt_set(const struct lt_attribute *attributes, void *object,
		      int id, const void *buf, size_t size)
{
	const struct lt_attribute *a = find_attribute(attributes, id);

	if (!object || !a || !buf || size != a->size)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy((char *)object + a->offset, buf, size);
	return CUBLAS_STATUS_SUCCESS;
}
