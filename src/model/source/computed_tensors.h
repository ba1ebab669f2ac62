// Tensors that must be made because the model's files hold them in a format that Tern does not compute with. They are
// made when the model is opened or, if files are read in pieces, on each read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/source/source.h"

namespace tern {

// Owns the memory of made tensors and finds them by name.
class ComputedTensors {
 public:
  explicit ComputedTensors(Access access) : access_(access) {}

  // The output of `source`, in memory, or lazy if files are read in pieces. Errors: those of reading it and of
  // allocate().
  Result<StoredBytes> make(std::unique_ptr<ByteSource> source, const std::string& path);

  // The same for tensors that backends bring into an order of their own: nothing is read before they do.
  StoredBytes make_later(std::unique_ptr<ByteSource> source);

  // Uninitialized memory, aligned for any kernel, that lives as long as this object. kOutOfMemory.
  Result<MutableBytes> allocate(uint64_t n_bytes, const std::string& path);

  const SourceTensor* find(std::string_view name) const;
  const SourceTensor& add(SourceTensor tensor);

  // For making tensors: one worker per CPU, started on first use.
  ThreadPool& pool();

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  Access access_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::vector<std::unique_ptr<ByteSource>> sources_;
  std::map<std::string, SourceTensor, std::less<>> tensors_;
  std::optional<ThreadPool> pool_;
};

// [n] values of a float format as f32, allocated by `made`; `change` is called with all of them. kCorruption: the data
// does not have the size of n values.
Result<SourceTensor> make_f32_vector(SourceTensor values, ComputedTensors& made, const std::string& path,
                                     std::function<void(std::span<float>)> change = {});

// Copies a tensor whose bytes are in memory but not aligned for kernels; returns any other unchanged.
Result<SourceTensor> make_aligned(SourceTensor tensor, ComputedTensors& made, const std::string& path);

// The rows of worker `worker` of `n_workers`: [first, second).
std::pair<int64_t, int64_t> share_of(int64_t n_rows, int worker, int n_workers);

}  // namespace tern
