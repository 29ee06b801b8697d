// The implementations of CRC-32C, one file each. Only the dispatcher and the tests include this.
#pragma once

#include "core/crc32c/crc32c.h"

namespace tfrkit {

extern const Crc32cVariant kCrc32cPortable;
#if defined(TFRKIT_HAVE_SSE42)
extern const Crc32cVariant kCrc32cSse42;
#endif
#if defined(TFRKIT_HAVE_ARM64)
extern const Crc32cVariant kCrc32cArm64;
#endif

}  // namespace tfrkit
