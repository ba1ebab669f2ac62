// A tab does without the native parts.
#include "backend/gpu/record/steps/native_parts.h"

namespace tern::gpu {

// A constant, so that the linker sees what its functions do, and leaves out what is then never used.
constexpr NativeParts kNoParts;

const NativeParts& native_parts() { return kNoParts; }

}  // namespace tern::gpu
