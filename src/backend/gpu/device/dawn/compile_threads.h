// The number of threads on which Dawn compiles.
#pragma once

namespace tern::gpu {

// The number for the most recently opened device; 0 before one is opened, and if Dawn uses its own two threads.
int compile_threads();

}  // namespace tern::gpu
