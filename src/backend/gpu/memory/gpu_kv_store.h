// Keys and values on the device, and the program that runs the plan with them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/record/program.h"
#include "backend/kv_store.h"
#include "plan/plan.h"

namespace tern::gpu {

// Each layer has blocks [2][n_kv_heads][kKvBlock] rows (kernels/kv_cache.h) in a buffer of its own; or all layers, one
// after the other, share one, as far as that can be bound at once. Buffers grow as more blocks are wanted: then there
// are new ones, with the old ones' contents, and the program has to be bound to them. Once there, they stay as long as
// the store.
class GpuKvStore final : public KvStore {
 public:
  // Records the program for new buffers.
  using Record = std::function<Result<void>(GpuKvStore&)>;
  GpuKvStore(Device& device, const Config& config, KvType type, bool together, Record record);

  KvType type() const override { return type_; }
  int block_tokens() const override;
  uint64_t block_bytes() const override { return host_block_bytes_; }
  Result<void> reserve(int n_blocks) override;
  Result<void> allocate(KvBlockId block) override;
  void free(KvBlockId block) override;
  Result<void> copy(KvBlockId from, KvBlockId to) override;
  Result<void> read(KvBlockId block, MutableBytes out) const override;
  Result<void> write(KvBlockId block, Bytes in) override;

  // A block that is always there beside those that are allocated, for tokens that are run to be timed.
  static constexpr KvBlockId kSpare = -1;
  // Where a block is in each layer's buffer, in blocks.
  static uint32_t place(KvBlockId block) { return static_cast<uint32_t>(block + 1); }
  bool has_room_for(KvBlockId block) const { return block < capacity_; }

  BufferView layer(int index) const;
  // All layers, one after the other, each with as much room; no buffer where each has its own.
  BufferView all_layers() const { return {together_.get(), 0, 0}; }

  // What runs the plan, and with which buffers: those of the store and RoPE's.
  struct Version {
    uint64_t of_store = 0, of_ropes = 0;
    uint64_t of_ways = 0;  // in which the program computes the layers
    bool operator==(const Version&) const = default;
  };
  Program program;
  Version recorded;
  uint64_t version() const { return version_; }  // of the store's buffers, from 1 up
  // What the recorded program binds and there are others for by now, and these.
  const std::map<BufferView, BufferView>& replaced() const { return replaced_; }
  // Whether layers have moved out of the buffer that they shared: the recorded program is of no use then.
  bool has_parted() const { return has_parted_; }
  void set_recorded(const Version& version) {
    recorded = version;
    replaced_.clear();
    has_parted_ = false;
  }

  // Expires with the store.
  std::weak_ptr<const GpuKvStore> watch() const { return alive_; }

 private:
  struct Layer {
    std::unique_ptr<Buffer> buffer;
    uint64_t block_bytes;
  };
  Result<int> capacity_for(int n_blocks, int wanted) const;
  Result<void> grow(int n_blocks, int wanted);
  Result<void> grow_to(int capacity);
  Result<void> grow_together(int capacity);
  Result<void> grow_apart(int capacity);
  Result<void> part(int capacity);
  bool can_be_together(int capacity) const;
  BufferView block_of(size_t layer, KvBlockId block) const;
  void note_replaced(const BufferView& old, const BufferView& other);

  Device& device_;
  const Config& config_;
  KvType type_;
  Record record_;
  uint64_t host_block_bytes_;
  std::vector<Layer> layers_;
  uint64_t block_bytes_ = 0, largest_bytes_ = 0;  // on the device: of all layers, of the largest
  std::unique_ptr<Buffer> copied_;                // a layer's block on its way to another; made when it is first wanted
  std::map<BufferView, BufferView> replaced_;
  bool wants_together_, has_parted_ = false;
  std::unique_ptr<Buffer> together_;
  int capacity_ = 0;  // blocks that every layer has room for
  int n_allocated_ = 0;
  uint64_t version_ = 0;
  std::shared_ptr<const GpuKvStore> alive_{this, [](const GpuKvStore*) {}};
};

}  // namespace tern::gpu
