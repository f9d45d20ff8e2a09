/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA runtime: external memory, IPC, OpenGL, EGL, VDPAU.
 */
#ifndef GPUKIT_ABI_CUDART_INTEROP_H
#define GPUKIT_ABI_CUDART_INTEROP_H

#include "abi/cuda/cuda_external_body.h"
#include "cudart_memory.h"

#define CUDA_EGL_MAX_PLANES                            3
#define cudaExternalMemoryDedicated                    0x1
#define cudaExternalSemaphoreSignalSkipNvSciBufMemSync 0x01
#define cudaExternalSemaphoreWaitSkipNvSciBufMemSync   0x02
#define cudaIpcMemLazyEnablePeerAccess                 0x01
#define cudaNvSciSyncAttrSignal                        0x1
#define cudaNvSciSyncAttrWait                          0x2

struct cudaGraphicsResource;
enum cudaGraphicsRegisterFlags {
	cudaGraphicsRegisterFlagsNone = 0,
	cudaGraphicsRegisterFlagsReadOnly = 1,
	cudaGraphicsRegisterFlagsWriteDiscard = 2,
	cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
	cudaGraphicsRegisterFlagsTextureGather = 8
};

enum cudaGraphicsMapFlags {
	cudaGraphicsMapFlagsNone = 0,
	cudaGraphicsMapFlagsReadOnly = 1,
	cudaGraphicsMapFlagsWriteDiscard = 2
};

enum cudaGraphicsCubeFace {
	cudaGraphicsCubeFacePositiveX = 0x00,
	cudaGraphicsCubeFaceNegativeX = 0x01,
	cudaGraphicsCubeFacePositiveY = 0x02,
	cudaGraphicsCubeFaceNegativeY = 0x03,
	cudaGraphicsCubeFacePositiveZ = 0x04,
	cudaGraphicsCubeFaceNegativeZ = 0x05
};

typedef struct cudaIpcEventHandle_st {
	char reserved[64];
} cudaIpcEventHandle_t;

typedef struct cudaIpcMemHandle_st {
	char reserved[64];
} cudaIpcMemHandle_t;

enum cudaExternalMemoryHandleType {
	cudaExternalMemoryHandleTypeOpaqueFd = 1,
	cudaExternalMemoryHandleTypeOpaqueWin32 = 2,
	cudaExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
	cudaExternalMemoryHandleTypeD3D12Heap = 4,
	cudaExternalMemoryHandleTypeD3D12Resource = 5,
	cudaExternalMemoryHandleTypeD3D11Resource = 6,
	cudaExternalMemoryHandleTypeD3D11ResourceKmt = 7,
	cudaExternalMemoryHandleTypeNvSciBuf = 8
};

struct cudaExternalMemoryHandleDesc {
	enum cudaExternalMemoryHandleType type;
	CUDA_EXTERNAL_HANDLE(nvSciBufObject);
	unsigned long long size;
	unsigned int flags;
#if CUDART_MAJOR >= 13
	unsigned int reserved[16];
#endif
};

struct cudaExternalMemoryBufferDesc {
	unsigned long long offset;
	unsigned long long size;
	unsigned int flags;
#if CUDART_MAJOR >= 13
	unsigned int reserved[16];
#endif
};

struct cudaExternalMemoryMipmappedArrayDesc {
	unsigned long long offset;
	struct cudaChannelFormatDesc formatDesc;
	struct cudaExtent extent;
	unsigned int flags;
	unsigned int numLevels;
#if CUDART_MAJOR >= 13
	unsigned int reserved[16];
#endif
};

enum cudaExternalSemaphoreHandleType {
	cudaExternalSemaphoreHandleTypeOpaqueFd = 1,
	cudaExternalSemaphoreHandleTypeOpaqueWin32 = 2,
	cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
	cudaExternalSemaphoreHandleTypeD3D12Fence = 4,
	cudaExternalSemaphoreHandleTypeD3D11Fence = 5,
	cudaExternalSemaphoreHandleTypeNvSciSync = 6,
	cudaExternalSemaphoreHandleTypeKeyedMutex = 7,
	cudaExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
	cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
	cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10
};

struct cudaExternalSemaphoreHandleDesc {
	enum cudaExternalSemaphoreHandleType type;
	CUDA_EXTERNAL_HANDLE(nvSciSyncObj);
	unsigned int flags;
#if CUDART_MAJOR >= 13
	unsigned int reserved[16];
#endif
};

#if CUDART_MAJOR == 12
struct cudaExternalSemaphoreSignalParams_v1 {
	CUDA_EXTERNAL_SIGNAL();
	unsigned int flags;
};
#endif

#if CUDART_MAJOR == 12
struct cudaExternalSemaphoreWaitParams_v1 {
	CUDA_EXTERNAL_WAIT();
	unsigned int flags;
};
#endif

struct cudaExternalSemaphoreSignalParams {
	CUDA_EXTERNAL_SIGNAL(unsigned int reserved[12];);
	unsigned int flags;
	unsigned int reserved[16];
};

struct cudaExternalSemaphoreWaitParams {
	CUDA_EXTERNAL_WAIT(unsigned int reserved[10];);
	unsigned int flags;
	unsigned int reserved[16];
};

typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
struct cudaExternalSemaphoreSignalNodeParams {
	cudaExternalSemaphore_t *extSemArray;
	const struct cudaExternalSemaphoreSignalParams *paramsArray;
	unsigned int numExtSems;
};

struct cudaExternalSemaphoreSignalNodeParamsV2 {
	cudaExternalSemaphore_t *extSemArray;
	const struct cudaExternalSemaphoreSignalParams *paramsArray;
	unsigned int numExtSems;
};

struct cudaExternalSemaphoreWaitNodeParams {
	cudaExternalSemaphore_t *extSemArray;
	const struct cudaExternalSemaphoreWaitParams *paramsArray;
	unsigned int numExtSems;
};

struct cudaExternalSemaphoreWaitNodeParamsV2 {
	cudaExternalSemaphore_t *extSemArray;
	const struct cudaExternalSemaphoreWaitParams *paramsArray;
	unsigned int numExtSems;
};

typedef unsigned int GLuint;
typedef unsigned int GLenum;
enum cudaGLDeviceList {
	cudaGLDeviceListAll = 1,
	cudaGLDeviceListCurrentFrame = 2,
	cudaGLDeviceListNextFrame = 3
};

enum cudaGLMapFlags {
	cudaGLMapFlagsNone = 0,
	cudaGLMapFlagsReadOnly = 1,
	cudaGLMapFlagsWriteDiscard = 2
};

typedef void *EGLStreamKHR;
typedef void *EGLImageKHR;
typedef void *EGLSyncKHR;
typedef int EGLint;
typedef enum cudaEglFrameType_enum {
	cudaEglFrameTypeArray = 0,
	cudaEglFrameTypePitch = 1
} cudaEglFrameType;

typedef enum cudaEglResourceLocationFlags_enum {
	cudaEglResourceLocationSysmem = 0x00,
	cudaEglResourceLocationVidmem = 0x01
} cudaEglResourceLocationFlags;

typedef enum cudaEglColorFormat_enum {
	cudaEglColorFormatYUV420Planar = 0,
	cudaEglColorFormatYUV420SemiPlanar = 1,
	cudaEglColorFormatYUV422Planar = 2,
	cudaEglColorFormatYUV422SemiPlanar = 3,
	cudaEglColorFormatARGB = 6,
	cudaEglColorFormatRGBA = 7,
	cudaEglColorFormatL = 8,
	cudaEglColorFormatR = 9,
	cudaEglColorFormatYUV444Planar = 10,
	cudaEglColorFormatYUV444SemiPlanar = 11,
	cudaEglColorFormatYUYV422 = 12,
	cudaEglColorFormatUYVY422 = 13,
	cudaEglColorFormatABGR = 14,
	cudaEglColorFormatBGRA = 15,
	cudaEglColorFormatA = 16,
	cudaEglColorFormatRG = 17,
	cudaEglColorFormatAYUV = 18,
	cudaEglColorFormatYVU444SemiPlanar = 19,
	cudaEglColorFormatYVU422SemiPlanar = 20,
	cudaEglColorFormatYVU420SemiPlanar = 21,
	cudaEglColorFormatY10V10U10_444SemiPlanar = 22,
	cudaEglColorFormatY10V10U10_420SemiPlanar = 23,
	cudaEglColorFormatY12V12U12_444SemiPlanar = 24,
	cudaEglColorFormatY12V12U12_420SemiPlanar = 25,
	cudaEglColorFormatVYUY_ER = 26,
	cudaEglColorFormatUYVY_ER = 27,
	cudaEglColorFormatYUYV_ER = 28,
	cudaEglColorFormatYVYU_ER = 29,
	cudaEglColorFormatYUVA_ER = 31,
	cudaEglColorFormatAYUV_ER = 32,
	cudaEglColorFormatYUV444Planar_ER = 33,
	cudaEglColorFormatYUV422Planar_ER = 34,
	cudaEglColorFormatYUV420Planar_ER = 35,
	cudaEglColorFormatYUV444SemiPlanar_ER = 36,
	cudaEglColorFormatYUV422SemiPlanar_ER = 37,
	cudaEglColorFormatYUV420SemiPlanar_ER = 38,
	cudaEglColorFormatYVU444Planar_ER = 39,
	cudaEglColorFormatYVU422Planar_ER = 40,
	cudaEglColorFormatYVU420Planar_ER = 41,
	cudaEglColorFormatYVU444SemiPlanar_ER = 42,
	cudaEglColorFormatYVU422SemiPlanar_ER = 43,
	cudaEglColorFormatYVU420SemiPlanar_ER = 44,
	cudaEglColorFormatBayerRGGB = 45,
	cudaEglColorFormatBayerBGGR = 46,
	cudaEglColorFormatBayerGRBG = 47,
	cudaEglColorFormatBayerGBRG = 48,
	cudaEglColorFormatBayer10RGGB = 49,
	cudaEglColorFormatBayer10BGGR = 50,
	cudaEglColorFormatBayer10GRBG = 51,
	cudaEglColorFormatBayer10GBRG = 52,
	cudaEglColorFormatBayer12RGGB = 53,
	cudaEglColorFormatBayer12BGGR = 54,
	cudaEglColorFormatBayer12GRBG = 55,
	cudaEglColorFormatBayer12GBRG = 56,
	cudaEglColorFormatBayer14RGGB = 57,
	cudaEglColorFormatBayer14BGGR = 58,
	cudaEglColorFormatBayer14GRBG = 59,
	cudaEglColorFormatBayer14GBRG = 60,
	cudaEglColorFormatBayer20RGGB = 61,
	cudaEglColorFormatBayer20BGGR = 62,
	cudaEglColorFormatBayer20GRBG = 63,
	cudaEglColorFormatBayer20GBRG = 64,
	cudaEglColorFormatYVU444Planar = 65,
	cudaEglColorFormatYVU422Planar = 66,
	cudaEglColorFormatYVU420Planar = 67,
	cudaEglColorFormatBayerIspRGGB = 68,
	cudaEglColorFormatBayerIspBGGR = 69,
	cudaEglColorFormatBayerIspGRBG = 70,
	cudaEglColorFormatBayerIspGBRG = 71,
	cudaEglColorFormatBayerBCCR = 72,
	cudaEglColorFormatBayerRCCB = 73,
	cudaEglColorFormatBayerCRBC = 74,
	cudaEglColorFormatBayerCBRC = 75,
	cudaEglColorFormatBayer10CCCC = 76,
	cudaEglColorFormatBayer12BCCR = 77,
	cudaEglColorFormatBayer12RCCB = 78,
	cudaEglColorFormatBayer12CRBC = 79,
	cudaEglColorFormatBayer12CBRC = 80,
	cudaEglColorFormatBayer12CCCC = 81,
	cudaEglColorFormatY = 82,
	cudaEglColorFormatYUV420SemiPlanar_2020 = 83,
	cudaEglColorFormatYVU420SemiPlanar_2020 = 84,
	cudaEglColorFormatYUV420Planar_2020 = 85,
	cudaEglColorFormatYVU420Planar_2020 = 86,
	cudaEglColorFormatYUV420SemiPlanar_709 = 87,
	cudaEglColorFormatYVU420SemiPlanar_709 = 88,
	cudaEglColorFormatYUV420Planar_709 = 89,
	cudaEglColorFormatYVU420Planar_709 = 90,
	cudaEglColorFormatY10V10U10_420SemiPlanar_709 = 91,
	cudaEglColorFormatY10V10U10_420SemiPlanar_2020 = 92,
	cudaEglColorFormatY10V10U10_422SemiPlanar_2020 = 93,
	cudaEglColorFormatY10V10U10_422SemiPlanar = 94,
	cudaEglColorFormatY10V10U10_422SemiPlanar_709 = 95,
	cudaEglColorFormatY_ER = 96,
	cudaEglColorFormatY_709_ER = 97,
	cudaEglColorFormatY10_ER = 98,
	cudaEglColorFormatY10_709_ER = 99,
	cudaEglColorFormatY12_ER = 100,
	cudaEglColorFormatY12_709_ER = 101,
	cudaEglColorFormatYUVA = 102,
	cudaEglColorFormatYVYU = 104,
	cudaEglColorFormatVYUY = 105,
	cudaEglColorFormatY10V10U10_420SemiPlanar_ER = 106,
	cudaEglColorFormatY10V10U10_420SemiPlanar_709_ER = 107,
	cudaEglColorFormatY10V10U10_444SemiPlanar_ER = 108,
	cudaEglColorFormatY10V10U10_444SemiPlanar_709_ER = 109,
	cudaEglColorFormatY12V12U12_420SemiPlanar_ER = 110,
	cudaEglColorFormatY12V12U12_420SemiPlanar_709_ER = 111,
	cudaEglColorFormatY12V12U12_444SemiPlanar_ER = 112,
	cudaEglColorFormatY12V12U12_444SemiPlanar_709_ER = 113,
	cudaEglColorFormatUYVY709 = 114,
	cudaEglColorFormatUYVY709_ER = 115,
	cudaEglColorFormatUYVY2020 = 116
} cudaEglColorFormat;

typedef struct cudaEglPlaneDesc_st {
	unsigned int width;
	unsigned int height;
	unsigned int depth;
	unsigned int pitch;
	unsigned int numChannels;
	struct cudaChannelFormatDesc channelDesc;
	unsigned int reserved[4];
} cudaEglPlaneDesc;

typedef struct cudaEglFrame_st {
	union {
		cudaArray_t pArray[3];
		struct cudaPitchedPtr pPitch[3];
	} frame;
	cudaEglPlaneDesc planeDesc[3];
	unsigned int planeCount;
	cudaEglFrameType frameType;
	cudaEglColorFormat eglColorFormat;
} cudaEglFrame;

typedef struct CUeglStreamConnection_st *cudaEglStreamConnection;
typedef unsigned int VdpDevice;
typedef unsigned int VdpVideoSurface;
typedef unsigned int VdpOutputSurface;
typedef int VdpStatus;
typedef int VdpGetProcAddress(VdpDevice d, unsigned f, void **p);
#endif
