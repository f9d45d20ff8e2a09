/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_test.c - checks the driver's linker: the image that it makes goes
 * through files, and a damaged file is not believed.
 */
#include "fronts/cuda/memory_fixture.h"

#include <sys/mman.h>

#define HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

static char calls[] =
    HEAD ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
	 ".visible .entry work()\n"
	 "{\n"
	 "	.reg .b32 %r<2>;\n"
	 "	{\n"
	 "	.param .b32 a;\n"
	 "	.param .b32 b;\n"
	 "	mov.u32 %r1, 4;\n"
	 "	st.param.b32 [a], %r1;\n"
	 "	call (b), twice, (a);\n"
	 "	ld.param.b32 %r1, [b];\n"
	 "	}\n"
	 "	ret;\n"
	 "}\n";

static char called[] =
    HEAD ".visible .func (.param .b32 r) twice (.param .b32 x)\n"
	 "{\n"
	 "	.reg .b32 %r<2>;\n"
	 "	ld.param.b32 %r1, [x];\n"
	 "	st.param.b32 [r], %r1;\n"
	 "	ret;\n"
	 "}\n";

/* A fat binary with one uncompressed text: its header and the image's. */
struct fat {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
	uint16_t kind, attribute;
	uint32_t image_header_size;
	uint64_t padded_size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t name, flags, reserved, unpacked;
	char text[(sizeof called + 7) & ~7U];
};
#define FAT_HEADER 16

static struct fat fat_of_called(void)
{
	struct fat f = {.magic = 0xba55ed50,
			.version = 1,
			.header_size = FAT_HEADER,
			.size = sizeof f - FAT_HEADER,
			.kind = 1,
			.image_header_size =
			    offsetof(struct fat, text) - FAT_HEADER,
			.padded_size = sizeof f.text,
			.arch = 50};

	memcpy(f.text, called, sizeof called);
	return f;
}

static CUresult add(CUlinkState link, CUjitInputType type, char *text)
{
	return CU(cuLinkAddData_v2)(link, type, text, strlen(text) + 1, "name",
				    0, NULL, NULL);
}

/* A copy of both linked together, which the caller frees. */
static unsigned char *linked(size_t *ret_size)
{
	unsigned char *copy;
	CUlinkState link;
	void *image, *again;

	assert_cuda(CU(cuLinkCreate_v2)(0, NULL, NULL, &link), SUCCESS);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, calls), SUCCESS);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, called), SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, ret_size), SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &again, NULL), SUCCESS);
	assert_ptr_equal(again, image);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, called), ERROR_INVALID_VALUE);
	copy = malloc(*ret_size);
	assert_non_null(copy);
	memcpy(copy, image, *ret_size);
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
	assert_cuda(CU(cuLinkDestroy)(link), ERROR_INVALID_HANDLE);
	return copy;
}

static CUresult load_file(const void *bytes, size_t size)
{
	char path[] = "/tmp/gpukit-link-XXXXXX";
	int fd = mkstemp(path);
	CUmodule module;
	CUresult r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	r = CU(cuModuleLoad)(&module, path);
	unlink(path);
	if (!r)
		assert_cuda(CU(cuModuleUnload)(module), SUCCESS);
	return r;
}

static void several_images_are_one(void **state)
{
	CUlibrary library;
	CUkernel kernel;
	size_t size;
	unsigned char *image = linked(&size);

	(void)state;
	assert_cuda(CU(cuLibraryLoadData)(&library, image, NULL, NULL, 0, NULL,
					  NULL, 0),
		    SUCCESS);
	assert_cuda(CU(cuLibraryGetKernel)(&kernel, library, "work"), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0,
				       NULL, NULL, NULL),
		    SUCCESS);
	settle();
	assert_cuda(CU(cuLibraryUnload)(library), SUCCESS);
	assert_cuda(load_file(image, size), SUCCESS);
	free(image);
}

static void what_is_cut_off_is_no_image(void **state)
{
	size_t size;
	unsigned char *image = linked(&size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += cut < 80 ? 1 : 61)
		assert_cuda(load_file(image, cut), ERROR_INVALID_IMAGE);
	assert_cuda(load_file(image, size - 1), ERROR_INVALID_IMAGE);
	free(image);
}

/* The magic, the sizes and the count: the header and that of the first. */
static void wrong_sizes_are_not_believed(void **state)
{
	size_t size;
	unsigned char *image = linked(&size);

	(void)state;
	for (size_t at = 0; at < 40; at++) {
		unsigned char was = image[at];

		image[at] = 0xff;
		assert_cuda(load_file(image, size), ERROR_INVALID_IMAGE);
		image[at] = was;
	}
	assert_cuda(load_file(image, size), SUCCESS);
	free(image);
}

/* The array of values is inaccessible once the link has begun. */
static void who_succeeds_needs_no_values(void **state)
{
	CUjit_option options[] = {
	    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
	    CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char error[64] = "x", info[64] = "x";
	CUlinkState link;
	void **values, *image;

	(void)state;
	values = mmap(NULL, page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(values, MAP_FAILED);
	values[0] = error;
	values[1] = (void *)sizeof error;
	values[2] = info;
	values[3] = (void *)sizeof info;
	assert_cuda(CU(cuLinkCreate_v2)(4, options, values, &link), SUCCESS);
	assert_null(values[1]);
	assert_null(values[3]);
	assert_int_equal(mprotect(values, page, PROT_NONE), 0);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, calls), SUCCESS);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, called), SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, NULL), SUCCESS);
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
	assert_string_equal(error, "");
	assert_string_equal(info, "");
	munmap(values, page);
}

static void what_is_no_ptx_is_refused(void **state)
{
	char log[256] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log}, *image;
	char hello[] = "hello";
	CUlinkState link;

	(void)state;
	assert_cuda(CU(cuLinkCreate_v2)(2, options, values, &link), SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(add(link, CU_JIT_INPUT_CUBIN, calls), ERROR_NOT_SUPPORTED);
	assert_non_null(strstr(log, "machine code"));
	assert_int_equal((uintptr_t)values[1], strlen(log) + 1);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, hello), ERROR_INVALID_IMAGE);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, called), SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, NULL), SUCCESS);
	assert_string_equal(image, called);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, called), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
}

/* A binary that is declared as text would end at its first NUL. */
static void a_binary_is_no_ptx(void **state)
{
	struct fat fat = fat_of_called();
	CUlinkState link;
	CUmodule module;
	void *image;
	size_t size;

	(void)state;
	assert_cuda(CU(cuLinkCreate_v2)(0, NULL, NULL, &link), SUCCESS);
	assert_cuda(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, &fat,
					 sizeof fat, NULL, 0, NULL, NULL),
		    ERROR_INVALID_IMAGE);
	assert_cuda(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_FATBINARY, &fat,
					 sizeof fat, NULL, 0, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, &size), SUCCESS);
	assert_true(size >= sizeof fat);
	assert_memory_equal(image, &fat, sizeof fat);
	assert_cuda(CU(cuModuleLoadData)(&module, image), SUCCESS);
	assert_cuda(CU(cuModuleUnload)(module), SUCCESS);
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
}

/* Bytes after which nothing can be read: two pages, which the caller unmaps. */
static char *at_the_edge(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_true(size <= page);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	return memcpy(pages + page - size, bytes, size);
}

static void nothing_behind_an_image_is_read(void **state)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct fat fat = fat_of_called();
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	char log[256];
	void *values[] = {log, (void *)sizeof log};
	CUlinkState link;

	(void)state;
	assert_cuda(CU(cuLinkCreate_v2)(2, options, values, &link), SUCCESS);
	for (size_t size = 1; size < sizeof fat; size++) {
		char *cut = at_the_edge(&fat, size);

		assert_cuda(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_FATBINARY,
						 cut, size, NULL, 0, NULL,
						 NULL),
			    ERROR_INVALID_IMAGE);
		assert_non_null(
		    strstr(log, size < FAT_HEADER ? "neither PTX" : "damaged"));
		munmap((void *)((uintptr_t)cut & ~(page - 1)), 2 * page);
	}
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
}

/* The fat binary is last in the bundle, and claims to be longer. */
static void an_image_ends_within_its_bundle(void **state)
{
	struct fat fat = fat_of_called();
	CUlinkState link;
	char *copy, *in;
	void *image;
	size_t size;

	(void)state;
	assert_cuda(CU(cuLinkCreate_v2)(0, NULL, NULL, &link), SUCCESS);
	assert_cuda(add(link, CU_JIT_INPUT_PTX, calls), SUCCESS);
	assert_cuda(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_FATBINARY, &fat,
					 sizeof fat, NULL, 0, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuLinkComplete)(link, &image, &size), SUCCESS);
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, image, size);
	assert_cuda(load_file(copy, size), SUCCESS);
	in = memmem(copy, size, &fat, sizeof fat);
	assert_non_null(in);
	fat.size += 4096;
	memcpy(in, &fat, sizeof fat);
	assert_cuda(load_file(copy, size), ERROR_INVALID_IMAGE);
	free(copy);
	assert_cuda(CU(cuLinkDestroy)(link), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(several_images_are_one),
	    cmocka_unit_test(what_is_cut_off_is_no_image),
	    cmocka_unit_test(wrong_sizes_are_not_believed),
	    cmocka_unit_test(who_succeeds_needs_no_values),
	    cmocka_unit_test(what_is_no_ptx_is_refused),
	    cmocka_unit_test(a_binary_is_no_ptx),
	    cmocka_unit_test(nothing_behind_an_image_is_read),
	    cmocka_unit_test(an_image_ends_within_its_bundle),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
