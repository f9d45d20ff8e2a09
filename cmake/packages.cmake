# SPDX-License-Identifier: Apache-2.0
# Debian packages: `cpack` makes one of each component of a build for the prefix
# /usr (`./run package deb`). They have no configuration files. Python's package
# alone has scripts: root's Python would leave compiled modules behind.
file(STRINGS packaging/project.conf rows REGEX "^[A-Z_]+=")
foreach(row ${rows})
	string(REGEX MATCH "^([A-Z_]+)=(.*)$" _ "${row}")
	set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

set(GPUKIT_PACKAGE_VERSION ${PROJECT_VERSION} CACHE STRING
	"Version of the Debian packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpukit)
set(CPACK_PACKAGE_VERSION ${GPUKIT_PACKAGE_VERSION})
set(CPACK_PACKAGE_CONTACT "${PROJECT_MAINTAINER} <${PROJECT_EMAIL}>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES OFF) # tools/package/debian.cmake strips
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/package/debian.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
	OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${PROJECT_URL})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(same "(= ${GPUKIT_PACKAGE_VERSION})")

# debian(PACKAGE SECTION SUMMARY DESCRIPTION [FIELD VALUE]...): a package, and
# its fields
macro(debian package section summary description)
	string(TOUPPER ${package} upper)
	list(APPEND CPACK_COMPONENTS_ALL ${package})
	set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
	set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
	set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
	set(fields ${ARGN})
	while(fields)
		list(POP_FRONT fields field value)
		set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${value}")
	endwhile()
endmacro()

debian(gpukit utils "shows, records and shares NVIDIA GPUs"
	"gpukit is one command for what people do with NVIDIA GPUs from a shell:
a live viewer, tables, JSON, nvidia-smi's output, recordings and plots,
metrics for Prometheus, a web page, and choosing GPUs."
	RECOMMENDS gpukit-limit
	SUGGESTS "gpukit-fake, gnuplot-nox, prometheus")
debian(gpukit-fake utils "runs programs on made-up NVIDIA GPUs"
	"Drop-in libraries for NVML, CUDA, its runtime, cuBLAS, cuFFT, cuRAND,
cuSOLVER, cuSPARSE and NCCL, with profiles of GPUs and scenarios, for
gpukit fake. Programs see GPUs that are not there, and compute on them."
	DEPENDS "gpukit ${same}"
	RECOMMENDS "libopenblas0-pthread | libopenblas0, libfftw3-double3, libfftw3-single3")
debian(gpukit-limit utils "runs programs within a share of a GPU"
	"The library that gpukit limit preloads: it keeps a group of programs
within limits of a GPU's memory and time."
	DEPENDS "gpukit ${same}")
debian(libgpukit0 libs "NVIDIA GPUs as one snapshot of plain data"
	"libgpukit reads GPUs, the processes that use them and the host through
NVML, and gives them to a program as one snapshot.")
debian(libgpukit-dev libdevel "NVIDIA GPUs as one snapshot of plain data (development)"
	"Headers, pkg-config and CMake files of libgpukit, and examples."
	DEPENDS "libgpukit0 ${same}")
debian(python3-gpukit python "NVIDIA GPUs, the processes on them and the host (Python)"
	"The Python package gpukit: classes with nvitop's names on libgpukit."
	DEPENDS "python3 (>= 3.9)" RECOMMENDS gpukit)
set(CPACK_DEBIAN_LIBGPUKIT-DEV_PACKAGE_SHLIBDEPS OFF)
# CPack would call ldconfig in scripts of the shared library's package, and
# write no shlibs for it alone. So it gets both as files, and its dependencies
# from cpack-options.cmake, when the library is there.
set(debian ${PROJECT_BINARY_DIR}/package/debian)
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
file(WRITE ${debian}/shlibs
	"libgpukit 0 libgpukit0 (>= ${GPUKIT_PACKAGE_VERSION})\n")
set(CPACK_DEBIAN_LIBGPUKIT0_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBGPUKIT0_PACKAGE_CONTROL_EXTRA
	${debian}/triggers ${debian}/shlibs)
set(CPACK_PROJECT_CONFIG_FILE
	${PROJECT_SOURCE_DIR}/tools/package/cpack-options.cmake)
set(CPACK_GPUKIT_BUILD ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PYTHON3-GPUKIT_PACKAGE_CONTROL_EXTRA
	${PROJECT_SOURCE_DIR}/tools/package/debian/postinst
	${PROJECT_SOURCE_DIR}/tools/package/debian/prerm)
include(CPack)
