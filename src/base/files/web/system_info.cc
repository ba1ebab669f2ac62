#include "base/files/system_info.h"

#include <emscripten/heap.h>

namespace tern {

CpuInfo read_cpu_info() { return {}; }
MemoryInfo read_memory_info() {
  return {.total_bytes = emscripten_get_heap_max(),
          .available_bytes = emscripten_get_heap_max() - emscripten_get_heap_size()};
}

}  // namespace tern
