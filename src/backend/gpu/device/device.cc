#include "backend/gpu/device/device.h"

namespace tern::gpu {

Result<void> Device::prepare(std::span<const Command>) { return {}; }
Result<void> Device::begin(const Pipeline&) { return {}; }

Result<void> Device::write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                                ThreadPool*) {
  TRY(const Bytes in_memory, bytes.read_all(scratch));
  return write(buffer, offset, in_memory);
}

}  // namespace tern::gpu
