#include "model/source/computed_tensors.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_text.h"

namespace tern {

Result<MutableBytes> ComputedTensors::allocate(uint64_t n_bytes, const std::string& path) {
  auto* memory = n_bytes > SIZE_MAX / 2
                     ? nullptr
                     : static_cast<std::byte*>(::operator new(std::max<size_t>(n_bytes, 1), kAlignment, std::nothrow));
  if (!memory) {
    return fail(ErrorCode::kOutOfMemory, "{}: no memory for a tensor of {} bytes; close other programs", path, n_bytes);
  }
  memory_.emplace_back(memory);
  return MutableBytes(memory, n_bytes);
}

Result<StoredBytes> ComputedTensors::make(std::unique_ptr<ByteSource> source, const std::string& path) {
  if (access_ == Access::kPieces) return make_later(std::move(source));
  TRY(const MutableBytes memory, allocate(source->size(), path));
  TRY_STATUS(source->read(0, memory));
  return memory;
}

StoredBytes ComputedTensors::make_later(std::unique_ptr<ByteSource> source) {
  const ByteSource& kept = *sources_.emplace_back(std::move(source));
  return StoredBytes(kept, 0, kept.size());
}

const SourceTensor* ComputedTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const SourceTensor& ComputedTensors::add(SourceTensor tensor) {
  std::string name = tensor.name;
  return tensors_.insert_or_assign(std::move(name), std::move(tensor)).first->second;
}

ThreadPool& ComputedTensors::pool() {
  if (!pool_) pool_.emplace(ThreadPool::load_time_cpus());
  return *pool_;
}

Result<SourceTensor> make_f32_vector(SourceTensor values, ComputedTensors& made, const std::string& path,
                                     std::function<void(std::span<float>)> change) {
  const auto n = static_cast<uint64_t>(values.shape.front());
  if (!values.format || tensor_bytes(*values.format, 1, static_cast<int64_t>(n)) != values.data.size()) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is not a vector of {} values", path, values.name, n);
  }
  const auto make = [n, change = std::move(change), format = *values.format, from = values.data](uint64_t, uint64_t,
                                                                                                 MutableBytes out) {
    Scratch scratch;
    return from.read_all(scratch).transform([&](Bytes in) {
      const std::span floats(reinterpret_cast<float*>(out.data()), n);
      format_info(format).decode(in, floats);
      if (change) change(floats);
    });
  };
  TRY(values.data, made.make(std::make_unique<MadeRows>(n * sizeof(float), 1, make), path));
  values.format = Format::kF32;
  values.type_name = "F32";
  return values;
}

Result<SourceTensor> make_aligned(SourceTensor tensor, ComputedTensors& made, const std::string& path) {
  constexpr uintptr_t kAlignment = 16;
  if (!tensor.data.is_resident() || reinterpret_cast<uintptr_t>(tensor.data.data()) % kAlignment == 0) return tensor;
  TRY(const MutableBytes memory, made.allocate(tensor.data.size(), path));
  std::memcpy(memory.data(), tensor.data.data(), tensor.data.size());
  tensor.data = memory;
  return tensor;
}

std::pair<int64_t, int64_t> share_of(int64_t n_rows, int worker, int n_workers) {
  return {n_rows * worker / n_workers, n_rows * (worker + 1) / n_workers};
}

}  // namespace tern
