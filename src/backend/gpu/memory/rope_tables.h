// RoPE's cosines and sines on the device, for all positions needed so far.
#pragma once

#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"
#include "model/source/config.h"

namespace tern::gpu {

// (cos, sin) [positions, head_dim / 2] for each of Config::ropes. If sequences of more than original_ctx tokens use
// other frequencies (model/source/rope.h), their positions follow all others.
class RopeTables {
 public:
  RopeTables(Device& device, const Config& config);

  // Makes room for positions below n_pos. If there is not enough, all tables are replaced.
  void reserve(int n_pos);
  // The table row of position 0, for a sequence of at most n_ctx tokens.
  uint32_t first_row(int n_ctx) const { return is_long(n_ctx) ? static_cast<uint32_t>(n_short_) : 0; }
  // The table is created when first needed.
  Result<const Buffer*> table(int rope);
  uint64_t version() const { return version_; }  // counts replacements

  // Bytes of one table for positions below n_pos.
  static uint64_t bytes(const Config& config, int n_pos);

 private:
  bool is_long(int n_ctx) const;
  Result<void> fill(int rope, const Buffer& buffer, int first_row, int n_rows, int n_ctx) const;

  Device& device_;
  const Config& config_;
  int n_pos_ = 0, n_short_ = 0, n_long_ = 0;  // positions; rows for short sequences; rows for long ones
  uint64_t version_ = 0;
  std::vector<std::unique_ptr<Buffer>> tables_;
};

}  // namespace tern::gpu
