// The angles of RoPE for all positions that have been wanted so far, on the device.
#pragma once

#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"
#include "model/config.h"

namespace tern::gpu {

// (cos, sin) [positions, head_dim / 2] of each of Config::ropes. Where sequences of more than original_ctx tokens are
// turned otherwise (model/rope.h), their positions come after all others'.
class RopeTables {
 public:
  RopeTables(Device& device, const Config& config);

  // Makes room for positions before n_pos. Where there is none, all tables are replaced.
  void reserve(int n_pos);
  // Where in the tables position 0 of a sequence of at most n_ctx tokens is.
  uint32_t first_row(int n_ctx) const { return is_long(n_ctx) ? static_cast<uint32_t>(n_short_) : 0; }
  // Made when it is first wanted.
  Result<const Buffer*> table(int rope);
  uint64_t version() const { return version_; }  // counts replacements

  // Bytes of one table with positions before n_pos.
  static uint64_t bytes(const Config& config, int n_pos);

 private:
  bool is_long(int n_ctx) const;
  Result<void> fill(int rope, const Buffer& buffer, int first_row, int n_rows, int n_ctx) const;

  Device& device_;
  const Config& config_;
  int n_pos_ = 0, n_short_ = 0, n_long_ = 0;  // positions; rows of short sequences; and of long ones
  uint64_t version_ = 0;
  std::vector<std::unique_ptr<Buffer>> tables_;
};

}  // namespace tern::gpu
