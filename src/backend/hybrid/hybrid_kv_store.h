// Keys and values that are on one of two devices, or on both.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "backend/hybrid/paired_kv_store.h"

namespace tern::hybrid {

// A block has memory on both devices. Its contents are valid on the device that last ran its positions, and on any
// device to which they were copied since.
class HybridKvStore final : public PairedKvStore {
 public:
  explicit HybridKvStore(std::array<std::unique_ptr<KvStore>, 2> stores);

  uint64_t block_bytes() const override { return stores_[0]->block_bytes(); }
  Result<void> allocate(KvBlockId block) override;
  Result<void> copy(KvBlockId from, KvBlockId to) override;
  Result<void> read(KvBlockId block, MutableBytes out) const override;
  Result<void> write(KvBlockId block, Bytes in) override;

  // Positions (of whole blocks) before `pos` whose blocks the device lacks.
  int64_t n_missing(size_t device, std::span<const KvBlockId> blocks, int pos) const;
  // Copies those blocks to the device.
  Result<void> bring(size_t device, std::span<const KvBlockId> blocks, int pos);
  // Records that only this device has what was written to the positions from `pos` up to `end`.
  void written(size_t device, std::span<const KvBlockId> blocks, int pos, int end);

 private:
  using Devices = uint8_t;  // a bit for each device whose copy of the block is valid
  static constexpr Devices bit(size_t device) { return static_cast<Devices>(1u << device); }
  Devices& holders(KvBlockId block) { return holders_[static_cast<size_t>(block)]; }
  Devices holders(KvBlockId block) const { return holders_[static_cast<size_t>(block)]; }
  // The blocks with positions before `pos`.
  std::span<const KvBlockId> before(std::span<const KvBlockId> blocks, int pos) const;
  bool lacks(size_t device, KvBlockId block) const { return holders(block) != 0 && !(holders(block) & bit(device)); }

  std::vector<Devices> holders_;   // by block
  std::vector<std::byte> moving_;  // a block while it is copied
};

}  // namespace tern::hybrid
