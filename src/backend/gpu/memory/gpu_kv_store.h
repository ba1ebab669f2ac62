// Keys and values on the device.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/kv_store.h"
#include "backend/state_layout.h"
#include "plan/plan.h"

namespace tern::gpu {

// Each layer has blocks [2][n_kv_heads][kKvBlock] rows (kernels/kv_cache.h), in a buffer of its own; or all layers
// share one buffer, one after the other, as long as it can be bound as a whole. When more blocks are needed, larger
// buffers replace the old ones and take over their contents. Buffers never shrink.
class GpuKvStore : public KvStore {
 public:
  // `on_new_buffers` is called after the store has grown, so that bind groups of the old buffers can be replaced.
  GpuKvStore(Device& device, const Config& config, KvType type, bool together,
             std::function<Result<void>()> on_new_buffers);

  KvType type() const override { return type_; }
  int block_tokens() const override;
  uint64_t block_bytes() const override { return block_bytes_.on_host; }
  Result<void> reserve(int n_blocks) override;
  Result<void> allocate(KvBlockId block) override;
  void free(KvBlockId block) override;
  Result<void> copy(KvBlockId from, KvBlockId to) override;
  Result<void> read(KvBlockId block, MutableBytes out) const override;
  Result<void> write(KvBlockId block, Bytes in) override;

  uint64_t state_bytes() const override { return states_.layout.kept_bytes(); }
  uint64_t state_memory() const override { return 2 * state_bytes(); }
  int most_pending() const override { return 0; }
  bool returns_states() const override { return true; }
  // The run replaces the state in its place; a copy is in the second place.
  Result<void> mark_state(StateId state) override;
  void return_state(StateId state) override { move_state(state); }
  Result<void> allocate_state(StateId state) override;
  void free_state(StateId state) override;
  Result<void> copy_state(StateId from, StateId to) override;
  Result<void> read_state(StateId state, MutableBytes out) const override;
  Result<void> write_state(StateId state, Bytes in) override;
  // All states of a recurrent layer.
  BufferView states(int layer) const { return {states_.buffers[static_cast<size_t>(layer)].get(), 0, 0}; }
  // Bytes of the states of n sequences, with their second places and the spare one.
  static uint64_t bytes_for_states(const Config& config, int n) {
    return (2 * static_cast<uint64_t>(n) + 1) * StateLayout(config).kept_bytes();
  }
  // Index of a state in them; that of kSpare always exists.
  uint32_t state_place(StateId state) const { return place_of(state, &States::Places::now); }
  // A second place for a state, so that a run can write the next state without losing this one. move_state() makes it
  // the state's place, and the other way round. kSpare has only one.
  Result<void> pair_state(StateId state);
  bool is_paired(StateId state) const { return other_place(state) != state_place(state); }
  uint32_t other_place(StateId state) const { return place_of(state, &States::Places::other); }
  void move_state(StateId state);

  // A block that always exists beside the allocated ones, for runs that are only timed.
  static constexpr KvBlockId kSpare = -1;
  // Index of a block within each layer's buffer.
  static uint32_t place(KvBlockId block) { return static_cast<uint32_t>(block + 1); }
  bool has_room_for(KvBlockId block) const { return block < capacity_; }

  BufferView layer(int index) const;
  // All layers, one after the other, each with the same size; a null buffer if each layer has its own.
  BufferView all_layers() const { return {together_.get(), 0, 0}; }

  uint64_t version() const { return version_; }  // of the buffers, from 1 up
  // Views replaced since forget_replaced(), each with its replacement.
  const std::map<BufferView, BufferView>& replaced() const { return replaced_; }
  // True if the layers have left their shared buffer since forget_replaced(); its views have no replacement.
  bool has_parted() const { return has_parted_; }
  void forget_replaced() {
    replaced_.clear();
    has_parted_ = false;
  }

 private:
  struct Layer {
    std::unique_ptr<Buffer> buffer;
    uint64_t block_bytes;
  };
  struct BlockBytes {
    uint64_t on_host;
    uint64_t of_layers = 0, of_largest = 0;  // on the device: all layers, the largest layer
  };
  // The states of recurrent layers: a buffer for each, null for other layers.
  struct States {
    StateLayout layout;
    std::vector<uint64_t> bytes;  // of one state, by layer
    std::vector<std::unique_ptr<Buffer>> buffers;
    uint32_t capacity = 0;  // places besides the spare one, place 0
    struct Places {
      uint32_t now = 0, other = 0;  // other = 0: it has no second place
    };
    std::vector<Places> places;  // by state
    std::vector<uint32_t> free;
  };
  uint32_t place_of(StateId state, uint32_t States::Places::* which) const;
  Result<uint32_t> take_state_place();
  BufferView state_of(size_t layer, StateId state) const;
  BufferView state_in(size_t layer, uint32_t place) const;
  // Replaces `buffer` by one with room for `bytes`, and with its contents, unless it has room for them.
  Result<void> enlarge(std::unique_ptr<Buffer>& buffer, uint64_t bytes, const std::string& name);
  // Copies the first view of each pair to the second, which has the same size.
  Result<void> copy_parts(std::span<const std::pair<BufferView, BufferView>> parts);
  Result<void> check_memory_for_states(uint32_t n) const;
  Result<void> grow_states(uint32_t n);  // does not call on_new_buffers_
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
  std::function<Result<void>()> on_new_buffers_;
  BlockBytes block_bytes_;
  States states_;
  std::vector<Layer> layers_;
  std::unique_ptr<Buffer> copied_;  // for copy_parts(); created when first needed
  std::map<BufferView, BufferView> replaced_;
  bool wants_together_, has_parted_ = false;
  std::unique_ptr<Buffer> together_;
  int capacity_ = 0;  // blocks for which every layer has room
  int n_allocated_ = 0;
  uint64_t version_ = 0;
};

}  // namespace tern::gpu
