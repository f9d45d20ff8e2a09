/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mem_create.c - makes physical memory by cuMemCreate: it is held as long
 * as a handle or a mapping of it exists, on the GPU it was made for.
 */
#include "limit/known/driver.h"

static CUmemAllocationProp on_first(void)
{
	return (CUmemAllocationProp){
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
}

struct mapped {
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;
	size_t bytes;
};

static int take(size_t bytes, void **ret_thing)
{
	const CUmemAccessDesc access = {
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
	    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAllocationProp wanted = on_first();
	struct mapped *thing = malloc(sizeof *thing);

	REQUIRE(thing);
	thing->bytes = bytes;
	if (!FITS(cuMemCreate(&thing->handle, bytes, &wanted, 0))) {
		free(thing);
		return 0;
	}
	OK(cuMemAddressReserve(&thing->at, bytes, 0, 0, 0));
	OK(cuMemMap(thing->at, bytes, 0, thing->handle, 0));
	OK(cuMemSetAccess(thing->at, bytes, &access, 1));
	*ret_thing = thing;
	return 1;
}

static void check(void *thing, size_t bytes)
{
	check_device_memory(((struct mapped *)thing)->at, bytes);
}

static void give(void *thing)
{
	struct mapped *mapped = thing;

	OK(cuMemUnmap(mapped->at, mapped->bytes));
	OK(cuMemAddressFree(mapped->at, mapped->bytes));
	OK(cuMemRelease(mapped->handle));
	free(mapped);
}

/* Memory outlives its released handle while it is mapped or retained. */
static void outlives_its_handle(void)
{
	size_t before, held, total;
	CUmemGenericAllocationHandle again;
	struct mapped *mapped;
	void *thing;

	driver_room(&before, &total);
	REQUIRE(take(PIECE, &thing));
	mapped = thing;
	OK(cuMemRelease(mapped->handle));
	driver_room(&held, &total);
	EQUAL(before - held, PIECE);
	OK(cuMemRetainAllocationHandle(&again, thing_of(mapped->at)));
	OK(cuMemUnmap(mapped->at, PIECE));
	driver_room(&held, &total);
	EQUAL(before - held, PIECE);
	OK(cuMemRelease(again));
	driver_room(&held, &total);
	EQUAL(held, before);
	OK(cuMemAddressFree(mapped->at, PIECE));
	free(mapped);
}

int main(int argc, char **argv)
{
	static const struct known_way way = {
	    .take = take, .check = check, .give = give, .room = driver_room};
	CUmemAllocationProp wanted = on_first();
	size_t granularity;

	start();
	OK(cuMemGetAllocationGranularity(&granularity, &wanted,
					 CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	EQUAL(PIECE % granularity, 0);
	outlives_its_handle();
	return known_run(&way, known_limit(argc, argv));
}
