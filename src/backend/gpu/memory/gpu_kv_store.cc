#include "backend/gpu/memory/gpu_kv_store.h"

#include <algorithm>
#include <climits>

#include "backend/gpu/memory/kv_order.h"
#include "backend/kv_layout.h"
#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::gpu {

namespace {
constexpr int kFirstBlocks = 8;
constexpr uint32_t kMostMoreStates = 8;  // for which memory is taken at once
}  // namespace

GpuKvStore::GpuKvStore(Device& device, const Config& config, KvType type, bool together,
                       std::function<Result<void>()> on_new_buffers)
    : device_(device),
      config_(config),
      type_(type),
      on_new_buffers_(std::move(on_new_buffers)),
      block_bytes_{.on_host = kv_bytes(config, kKvBlock, type)},
      states_{.layout = StateLayout(config), .bytes = {}, .buffers = {}},
      wants_together_(together && !config.has_recurrent_layers()) {
  for (int layer = 0; layer < config.n_layers; ++layer) {
    const uint64_t bytes = device_block_bytes(config, layer, type);
    layers_.push_back({.buffer = nullptr, .block_bytes = bytes});
    block_bytes_.of_layers += bytes;
    block_bytes_.of_largest = std::max(block_bytes_.of_largest, bytes);
    states_.bytes.push_back(states_.layout.layer(layer).n_kept * sizeof(float));
    states_.buffers.emplace_back();
  }
}

int GpuKvStore::block_tokens() const { return kKvBlock; }

BufferView GpuKvStore::layer(int index) const {
  const Layer& layer = layers_[static_cast<size_t>(index)];
  if (!together_) return {layer.buffer.get(), 0, 0};
  const uint64_t bytes = together_->bytes() / layers_.size();
  return {together_.get(), static_cast<uint64_t>(index) * bytes, bytes};
}

BufferView GpuKvStore::block_of(size_t i, KvBlockId block) const {
  const uint64_t bytes = layers_[i].block_bytes;
  const BufferView all = layer(static_cast<int>(i));
  return {all.buffer, all.offset + place(block) * bytes, bytes};
}

bool GpuKvStore::can_be_together(int capacity) const {
  const Limits& limits = device_.limits();
  const uint64_t bytes = (static_cast<uint64_t>(capacity) + 1) * block_bytes_.of_layers;
  const bool may = wants_together_ && (capacity_ == 0 || together_);  // once separated, layers stay so
  return may && block_bytes_.of_layers == layers_.size() * block_bytes_.of_largest &&
         block_bytes_.of_largest % limits.offset_alignment == 0 && bytes <= limits.binding_bytes &&
         bytes <= limits.buffer_bytes;
}

// `wanted` blocks, or as many as fit, but at least n_blocks. Errors if those do not fit. The spare block comes on top.
Result<int> GpuKvStore::capacity_for(int n_blocks, int wanted) const {
  const auto least = static_cast<uint64_t>(n_blocks), now = static_cast<uint64_t>(capacity_);
  const int tokens = n_blocks * kKvBlock;
  if (block_bytes_.of_largest == 0) return wanted;  // all layers are recurrent
  uint64_t most = device_.limits().binding_bytes / block_bytes_.of_largest - 1;
  if (least > most) {
    return fail(
        ErrorCode::kOutOfMemory,
        "keys and values of {} tokens take {} MB a layer, but this GPU binds at most {} MB at once; use a smaller "
        "context, or hold fewer conversations",
        tokens, least * block_bytes_.of_largest >> 20, device_.limits().binding_bytes >> 20);
  }
  if (const uint64_t memory = device_.adapter().memory_bytes; memory > 0) {
    // Without states of its own, no sequence could use the blocks.
    const uint64_t states = states_.capacity == 0 ? bytes_for_states(config_, 1) : 0;
    const uint64_t used = device_.allocated_bytes() + states, rest = used < memory ? memory - used : 0;
    // A shared buffer moves as a whole. Separate layers move one by one, so hardly anything exists twice.
    const uint64_t fit = rest / block_bytes_.of_layers, more = fit + (now > 0 ? 0 : -1);
    const uint64_t all = together_ ? std::max(fit, uint64_t{1}) - 1 : now + more;
    if (least > all) {
      return fail(ErrorCode::kOutOfMemory,
                  "keys and values of {} tokens take {} MB, which do not fit into the {} MB of the GPU {}, of which {} "
                  "MB are in use; use a smaller context, hold fewer conversations, or use the cpu backend",
                  tokens, least * block_bytes_.of_layers >> 20, memory >> 20, device_.adapter().name, used >> 20);
    }
    most = std::min(most, all);
  }
  return static_cast<int>(std::clamp<uint64_t>(static_cast<uint64_t>(wanted), least, most));
}

// If a view is replaced several times, users of the first view get the last replacement.
void GpuKvStore::note_replaced(const BufferView& old, const BufferView& other) {
  if (!old.buffer) return;
  for (auto& [first, last] : replaced_) {
    if (last == old) {
      last = other;
      return;
    }
  }
  replaced_[old] = other;
}

Result<void> GpuKvStore::grow_together(int capacity) {
  const uint64_t of_layer = static_cast<uint64_t>(capacity + 1) * block_bytes_.of_largest;
  TRY(auto larger, device_.new_buffer("the KV cache", of_layer * layers_.size(), BufferUse::kWork));
  std::vector<Command> copies;
  for (size_t i = 0; together_ && i < layers_.size(); ++i) {
    const BufferView old = layer(static_cast<int>(i));
    copies.push_back({.grid = {}, .from = old, .to = {larger.get(), i * of_layer, old.bytes}});
  }
  if (!copies.empty()) TRY_STATUS(device_.submit(copies));
  for (const Command& copy : copies) note_replaced(copy.from, {larger.get(), copy.to.offset, of_layer});
  note_replaced(all_layers(), {larger.get(), 0, 0});
  for (Layer& apart : layers_) apart.buffer.reset();  // left by an attempt that failed
  together_ = std::move(larger);
  capacity_ = capacity;
  ++version_;
  return {};
}

// Gives each layer a buffer of its own when a shared one would be too large to bind.
Result<void> GpuKvStore::part(int capacity) {
  std::vector<std::unique_ptr<Buffer>> parted;
  std::vector<Command> copies;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const uint64_t bytes = static_cast<uint64_t>(capacity + 1) * layers_[i].block_bytes;
    TRY(auto buffer, device_.new_buffer(format_text("the KV cache of layer {}", i), bytes, BufferUse::kWork));
    const BufferView old = layer(static_cast<int>(i));
    copies.push_back({.grid = {}, .from = old, .to = {buffer.get(), 0, old.bytes}});
    parted.push_back(std::move(buffer));
  }
  TRY_STATUS(device_.submit(copies));
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i].buffer = std::move(parted[i]);
  together_.reset();
  has_parted_ = true;
  capacity_ = capacity;
  ++version_;
  return {};
}

Result<void> GpuKvStore::grow_to(int capacity) {
  if (can_be_together(capacity)) return grow_together(capacity);
  return together_ ? part(capacity) : grow_apart(capacity);
}

Result<void> GpuKvStore::enlarge(std::unique_ptr<Buffer>& buffer, uint64_t bytes, const std::string& name) {
  if (buffer && buffer->bytes() >= bytes) return {};  // since an attempt that failed in a later layer
  TRY(auto larger, device_.new_buffer(name, bytes, BufferUse::kWork));
  ++version_;
  if (buffer) {
    const Command copy{
        .grid = {}, .from = {buffer.get(), 0, buffer->bytes()}, .to = {larger.get(), 0, buffer->bytes()}};
    note_replaced({buffer.get(), 0, 0}, {larger.get(), 0, 0});
    std::swap(buffer, larger);
    return device_.submit({&copy, 1});
  }
  buffer = std::move(larger);
  return {};
}

// Layer by layer, so that at most one layer exists twice.
Result<void> GpuKvStore::grow_apart(int capacity) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    if (layer.block_bytes == 0) continue;  // it has a state
    const uint64_t bytes = static_cast<uint64_t>(capacity + 1) * layer.block_bytes;
    TRY_STATUS(enlarge(layer.buffer, bytes, format_text("the KV cache of layer {}", i)));
  }
  capacity_ = capacity;
  return {};
}

Result<void> GpuKvStore::grow(int n_blocks, int wanted) {
  // A capacity somewhat below `wanted` is better than separate buffers.
  while (can_be_together(n_blocks) && !can_be_together(wanted)) {
    wanted = std::max(n_blocks, wanted - wanted / 8 - 1);
  }
  TRY(const int capacity, capacity_for(n_blocks, wanted));
  auto grown = grow_to(capacity);
  if (!grown && grown.error().code == ErrorCode::kOutOfMemory && capacity > n_blocks) grown = grow_to(n_blocks);
  TRY_STATUS(std::move(grown));
  if (state_bytes() > 0 && states_.capacity == 0) TRY_STATUS(grow_states(1));  // programs bind them
  return on_new_buffers_();
}

Result<void> GpuKvStore::reserve(int n_blocks) {
  return n_blocks > capacity_ ? grow(n_blocks, n_blocks) : Result<void>();
}

Result<void> GpuKvStore::allocate(KvBlockId block) {
  const int n_blocks = block + 1;
  if (n_blocks > capacity_) TRY_STATUS(grow(n_blocks, std::max(2 * capacity_, kFirstBlocks)));
  ++n_allocated_;
  return {};
}

void GpuKvStore::free(KvBlockId) {
  CHECK(n_allocated_ > 0);
  --n_allocated_;
}

// WebGPU cannot copy within a buffer, so copies go through another one.
Result<void> GpuKvStore::copy_parts(std::span<const std::pair<BufferView, BufferView>> parts) {
  uint64_t most = 0;
  for (const auto& [from, to] : parts) most = std::max(most, from.bytes);
  if (!copied_ || copied_->bytes() < most) {
    TRY(copied_, device_.new_buffer("a part of the KV cache", most, BufferUse::kWork));
  }
  std::vector<Command> copies;
  for (const auto& [from, to] : parts) {
    copies.push_back({.grid = {}, .from = from, .to = {copied_.get(), 0, from.bytes}});
    copies.push_back({.grid = {}, .from = {copied_.get(), 0, from.bytes}, .to = to});
  }
  return device_.submit(copies);
}

Result<void> GpuKvStore::copy(KvBlockId from, KvBlockId to) {
  std::vector<std::pair<BufferView, BufferView>> parts;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].block_bytes > 0) parts.emplace_back(block_of(i, from), block_of(i, to));
  }
  return copy_parts(parts);
}

Result<void> GpuKvStore::read(KvBlockId block, MutableBytes out) const {
  CHECK(out.size() == block_bytes_.on_host);
  std::vector<std::byte> bytes(block_bytes_.of_largest);
  for (int i = 0; i < config_.n_layers; ++i) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    if (layer.block_bytes == 0) continue;
    const MutableBytes of_layer = MutableBytes(bytes).first(layer.block_bytes);
    TRY_STATUS(device_.read(block_of(static_cast<size_t>(i), block), of_layer));
    const uint64_t host_bytes = kv_layer_bytes(config_, i, kKvBlock, type_);
    to_host_order(config_, i, type_, of_layer, out.first(host_bytes));
    out = out.subspan(host_bytes);
  }
  return {};
}

Result<void> GpuKvStore::write(KvBlockId block, Bytes in) {
  CHECK(in.size() == block_bytes_.on_host);
  std::vector<std::byte> bytes(block_bytes_.of_largest);
  for (int i = 0; i < config_.n_layers; ++i) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    if (layer.block_bytes == 0) continue;
    const MutableBytes of_layer = MutableBytes(bytes).first(layer.block_bytes);
    const uint64_t host_bytes = kv_layer_bytes(config_, i, kKvBlock, type_);
    to_device_order(config_, i, type_, in.first(host_bytes), of_layer);
    const BufferView to = block_of(static_cast<size_t>(i), block);
    TRY_STATUS(device_.write(*to.buffer, to.offset, of_layer));
    in = in.subspan(host_bytes);
  }
  return {};
}

BufferView GpuKvStore::state_in(size_t layer, uint32_t place) const {
  const uint64_t bytes = states_.bytes[layer];
  return {states_.buffers[layer].get(), place * bytes, bytes};
}

BufferView GpuKvStore::state_of(size_t layer, StateId state) const { return state_in(layer, state_place(state)); }

// States move layer by layer, so one layer may exist twice.
Result<void> GpuKvStore::check_memory_for_states(uint32_t n) const {
  const uint64_t memory = device_.adapter().memory_bytes, used = device_.allocated_bytes();
  const uint64_t n_old = states_.capacity == 0 ? 0 : uint64_t{states_.capacity} + 1;
  const uint64_t more = (uint64_t{n} + 1 - n_old) * state_bytes() + n_old * std::ranges::max(states_.bytes);
  if (memory == 0 || used + more <= memory) return {};
  return fail(
      ErrorCode::kOutOfMemory,
      "the states of recurrent layers need {} MB more, which do not fit into the {} MB of the GPU {}, of which {} "
      "MB are in use; hold fewer conversations, or use the cpu backend",
      more >> 20, memory >> 20, device_.adapter().name, used >> 20);
}

Result<void> GpuKvStore::grow_states(uint32_t n) {
  TRY_STATUS(check_memory_for_states(n));
  for (size_t i = 0; i < states_.buffers.size(); ++i) {
    if (states_.bytes[i] == 0) continue;
    const uint64_t bytes = (uint64_t{n} + 1) * states_.bytes[i];
    if (bytes > device_.limits().binding_bytes) {
      return fail(ErrorCode::kOutOfMemory,
                  "the states of {} sequences take {} MB a layer, but this GPU binds at most {} MB at once; hold fewer "
                  "conversations",
                  n, bytes >> 20, device_.limits().binding_bytes >> 20);
    }
    TRY_STATUS(enlarge(states_.buffers[i], bytes, format_text("the states of layer {}", i)));
  }
  for (uint32_t place = n; place > states_.capacity; --place) states_.free.push_back(place);  // the first is used first
  states_.capacity = n;
  return {};
}

Result<uint32_t> GpuKvStore::take_state_place() {
  if (states_.free.empty()) {
    const uint32_t n = states_.capacity + 1,
                   wanted = states_.capacity + std::clamp(states_.capacity, 1u, kMostMoreStates);
    auto grown = grow_states(wanted);
    if (!grown && grown.error().code == ErrorCode::kOutOfMemory && wanted > n) grown = grow_states(n);
    TRY_STATUS(std::move(grown));
    TRY_STATUS(on_new_buffers_());
  }
  const uint32_t place = states_.free.back();
  states_.free.pop_back();
  return place;
}

uint32_t GpuKvStore::place_of(StateId state, uint32_t States::Places::* which) const {
  if (state == kSpare) return 0;
  const States::Places& places = states_.places[static_cast<size_t>(state)];
  return which == &States::Places::other && places.other == 0 ? places.now : places.*which;
}

Result<void> GpuKvStore::allocate_state(StateId state) {
  TRY(const uint32_t place, take_state_place());
  const auto index = static_cast<size_t>(state);
  if (states_.places.size() <= index) states_.places.resize(index + 1);
  states_.places[index] = {.now = place};
  return {};
}

void GpuKvStore::free_state(StateId state) {
  States::Places& places = states_.places[static_cast<size_t>(state)];
  for (const uint32_t place : {places.now, places.other}) {
    if (place > 0) states_.free.push_back(place);
  }
  places = {};
}

Result<void> GpuKvStore::pair_state(StateId state) {
  if (state == kSpare || is_paired(state)) return {};
  TRY(const uint32_t place, take_state_place());
  states_.places[static_cast<size_t>(state)].other = place;
  return {};
}

void GpuKvStore::move_state(StateId state) {
  States::Places& places = states_.places[static_cast<size_t>(state)];
  CHECK(places.other > 0);
  std::swap(places.now, places.other);
}

Result<void> GpuKvStore::mark_state(StateId state) {
  TRY_STATUS(pair_state(state));
  std::vector<std::pair<BufferView, BufferView>> parts;
  for (size_t i = 0; i < states_.bytes.size(); ++i) {
    if (states_.bytes[i] > 0) parts.emplace_back(state_of(i, state), state_in(i, other_place(state)));
  }
  return copy_parts(parts);
}

Result<void> GpuKvStore::copy_state(StateId from, StateId to) {
  std::vector<std::pair<BufferView, BufferView>> parts;
  for (size_t i = 0; i < states_.bytes.size(); ++i) {
    if (states_.bytes[i] > 0) parts.emplace_back(state_of(i, from), state_of(i, to));
  }
  return copy_parts(parts);
}

Result<void> GpuKvStore::read_state(StateId state, MutableBytes out) const {
  CHECK(out.size() == state_bytes());
  for (size_t i = 0; i < states_.bytes.size(); ++i) {
    if (states_.bytes[i] == 0) continue;
    TRY_STATUS(device_.read(state_of(i, state), out.first(states_.bytes[i])));
    out = out.subspan(states_.bytes[i]);
  }
  return {};
}

Result<void> GpuKvStore::write_state(StateId state, Bytes in) {
  CHECK(in.size() == state_bytes());
  for (size_t i = 0; i < states_.bytes.size(); ++i) {
    if (states_.bytes[i] == 0) continue;
    const BufferView to = state_of(i, state);
    TRY_STATUS(device_.write(*to.buffer, to.offset, in.first(states_.bytes[i])));
    in = in.subspan(states_.bytes[i]);
  }
  return {};
}

}  // namespace tern::gpu
