# SPDX-License-Identifier: Apache-2.0
# cpack reads this before it makes a package: what libgpukit needs.
file(WRITE ${CPACK_GPUKIT_BUILD}/package/debian/control "Source: gpukit\n")
file(GLOB libraries ${CPACK_GPUKIT_BUILD}/lib/libgpukit.so.0.*)
execute_process(COMMAND dpkg-shlibdeps -O ${libraries}
	WORKING_DIRECTORY ${CPACK_GPUKIT_BUILD}/package
	OUTPUT_VARIABLE needs OUTPUT_STRIP_TRAILING_WHITESPACE
	ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^shlibs:Depends=" "" CPACK_DEBIAN_LIBGPUKIT0_PACKAGE_DEPENDS
	"${needs}")
