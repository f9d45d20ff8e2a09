/* What code says of its variables; the sums are worked out by hand. */
#include "limit/preload/code_size.h"
#include "unit.h"

#include <elf.h>
#include <string.h>

static void ptx_says_its_variables(void **state)
{
	(void)state;
	assert_int_equal(code_size(".version 7.0\n.target sm_70\n"), 0);
	assert_int_equal(code_size(".visible .global .align 4 .u32 n;\n"), 512);
	assert_int_equal(code_size("\n.global .align 16 .b8 room[1048577];"),
			 1048576 + 512);
	assert_int_equal(code_size(".global .v4 .f32 rows[32] [8];"), 4096);
	assert_int_equal(
	    code_size("//\n.global .attribute(.managed) .f64 a[64]={0};\n"
		      ".extern .global .u16 b[257];\n"),
	    512 + 1024);
}

static void loads_and_stores_are_no_variables(void **state)
{
	(void)state;
	assert_int_equal(code_size(".visible .entry k() {\n"
				   "\tld.global.f32 %f1, [%rd1];\n"
				   "\tst.global.b32 [%rd1+4], %r1;\n}\n"),
			 0);
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
	assert_int_equal(code_size(&image), 4096 + 512);
}

static void what_is_compressed_says_nothing(void **state)
{
	const unsigned char fat[] = {0xb1, 0x43, 0x62, 0x46, 0};

	(void)state;
	assert_int_equal(code_size(fat), 0);
	assert_int_equal(code_size(NULL), 0);
	assert_int_equal(code_size(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ptx_says_its_variables),
	    cmocka_unit_test(loads_and_stores_are_no_variables),
	    cmocka_unit_test(a_cubin_says_its_sections),
	    cmocka_unit_test(what_is_compressed_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
