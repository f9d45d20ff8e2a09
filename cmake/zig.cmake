# SPDX-License-Identifier: Apache-2.0
# The toolchain of ./run portable: Zig's compiler for an old glibc, and the
# libraries that tools/portable/libraries.sh built with it. The directory
# GPUKIT_PORTABLE has bin/ with the compiler's wrappers, and deps/ with the
# libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUKIT_MACHINE GPUKIT_PORTABLE)
set(CMAKE_SYSTEM_PROCESSOR ${GPUKIT_MACHINE})
set(CMAKE_C_COMPILER ${GPUKIT_PORTABLE}/tools/cc)
set(CMAKE_ASM_COMPILER ${GPUKIT_PORTABLE}/tools/cc)
set(CMAKE_AR ${GPUKIT_PORTABLE}/tools/ar)
set(CMAKE_RANLIB ${GPUKIT_PORTABLE}/tools/ranlib)
set(CMAKE_LINKER ${GPUKIT_PORTABLE}/tools/ld)
set(CMAKE_OBJCOPY ${GPUKIT_PORTABLE}/tools/objcopy)
set(CMAKE_STRIP ${GPUKIT_PORTABLE}/tools/strip)

set(CMAKE_FIND_ROOT_PATH ${GPUKIT_PORTABLE}/deps)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${GPUKIT_PORTABLE}/deps/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
