/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_size_test.c - checks what code says about its variables against sums
 * computed by hand.
 */
#include "limit/preload/memory/code_size.h"
#include "unit.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t least_of(const void *image)
{
	return code_size(image).least;
}

static void ptx_says_its_variables(void **state)
{
	(void)state;
	assert_int_equal(least_of(".version 7.0\n.target sm_70\n"), 0);
	assert_int_equal(least_of(".visible .global .align 4 .u32 n;\n"), 512);
	assert_int_equal(least_of("\n.global .align 16 .b8 room[1048577];"),
			 1048576 + 512);
	assert_int_equal(least_of(".global .v4 .f32 rows[32] [8];"), 4096);
	assert_int_equal(
	    least_of("//\n.global .attribute(.managed) .f64 a[64]={0};\n"
		     ".extern .global .u16 b[257];\n"),
	    512 + 1024);
}

static void loads_and_stores_are_no_variables(void **state)
{
	(void)state;
	assert_int_equal(least_of(".visible .entry k() {\n"
				  "\tld.global.f32 %f1, [%rd1];\n"
				  "\tst.global.b32 [%rd1+4], %r1;\n}\n"),
			 0);
}

/* The memory behind it cannot be read. */
static const char *at_the_end(const char *text)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = strlen(text) + 1;
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + page, page, PROT_NONE), 0);
	return memcpy(at + page - size, text, size);
}

static void texts_may_end_anywhere(void **state)
{
	static const char text[] =
	    ".global .attribute(.managed) .align 4 .v2 .b8 x[3][4] = {1};";
	char part[sizeof text];

	(void)state;
	for (size_t i = 1; i < sizeof text; i++) {
		memcpy(part, text, i);
		part[i] = '\0';
		assert_true(code_size(at_the_end(part)).least <= 512);
	}
}

static void a_cubin_says_its_sections(void **state)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr section[3];
	} image = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
					ELFCLASS64},
			    .e_shoff = sizeof(Elf64_Ehdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3}};

	(void)state;
	image.section[0].sh_size = 4000;
	image.section[1].sh_size = 4000;
	image.section[1].sh_flags = SHF_ALLOC;
	image.section[2].sh_size = 1;
	image.section[2].sh_flags = SHF_ALLOC | SHF_WRITE;
	assert_int_equal(least_of(&image), 4096 + 512);
}

/* A fat binary with PTX of 1 MiB and a compressed cubin of 3 MiB. */
static const struct fat {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
	struct {
		uint16_t kind, attribute;
		uint32_t header_size;
		uint64_t padded_size, between[5], unpacked_size;
		char bytes[64];
	} image[2];
} fat = {0xba55ed50,
	 1,
	 16,
	 2 * 128,
	 {{.kind = 1,
	   .header_size = 64,
	   .padded_size = 64,
	   .unpacked_size = 1 << 20},
	  {.kind = 2,
	   .header_size = 64,
	   .padded_size = 64,
	   .unpacked_size = 3 << 20}}};

static void what_is_compressed_has_a_bound_alone(void **state)
{
	const struct {
		uint32_t magic, version;
		const void *fatbin;
	} wrapper = {0x466243b1, 1, &fat};

	(void)state;
	assert_int_equal(code_size(&wrapper).least, 0);
	assert_int_equal(code_size(&wrapper).most, (8 << 20) + CODE_SLACK);
	assert_int_equal(code_size(&fat).most, (8 << 20) + CODE_SLACK);
	assert_int_equal(code_size(NULL).most, 0);
	assert_int_equal(code_size("").least, 0);
}

/* All others have that much less room while the code is loaded. */
static void bounds_are_near(void **state)
{
	static char text[100001];
	struct fat broken = fat;

	(void)state;
	memset(text, '\n', 100000);
	assert_int_equal(code_size(text).most, 800000 + CODE_SLACK);
	assert_int_equal(code_size_of_file(100).most, 1600 + CODE_SLACK);
	assert_int_equal(code_size_of_file(UINT64_MAX).most, CODE_MOST);
	broken.image[0].padded_size = UINT64_MAX;
	assert_int_equal(code_size(&broken).most, CODE_SLACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ptx_says_its_variables),
	    cmocka_unit_test(loads_and_stores_are_no_variables),
	    cmocka_unit_test(texts_may_end_anywhere),
	    cmocka_unit_test(a_cubin_says_its_sections),
	    cmocka_unit_test(what_is_compressed_has_a_bound_alone),
	    cmocka_unit_test(bounds_are_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
