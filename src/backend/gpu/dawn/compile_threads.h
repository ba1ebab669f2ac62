// On how many threads Dawn compiles.
#pragma once

namespace tern::gpu {

// Of the last device that was opened; 0 before, and where Dawn keeps to its own two.
int compile_threads();

}  // namespace tern::gpu
