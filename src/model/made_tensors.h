// Tensors that have to be made, because no format of Tern's lies in a model's files as it is: when the model is opened,
// or where its files are read in pieces whenever they are read.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/source.h"

namespace tern {

// Owns their memory, and remembers each by name.
class MadeTensors {
 public:
  explicit MadeTensors(Access access) : access_(access) {}

  // What `source` makes: in memory, or lazily where they are. Errors: those of reading it, and allocate's.
  Result<StoredBytes> make(std::unique_ptr<ByteSource> source, const std::string& path);

  // Uninitialised memory, aligned for any kernel, that lives as long as this object. kOutOfMemory.
  Result<MutableBytes> allocate(uint64_t n_bytes, const std::string& path);

  const SourceTensor* find(std::string_view name) const;
  const SourceTensor& add(SourceTensor tensor);

  // For making them: one worker per CPU, started when first asked for.
  ThreadPool& pool();

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  Access access_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::vector<std::unique_ptr<ByteSource>> sources_;
  std::map<std::string, SourceTensor, std::less<>> tensors_;
  std::optional<ThreadPool> pool_;
};

// [n] values of a float format as f32, `offset` added to each, made by `made`. kCorruption: the bytes are not those of
// n values.
Result<SourceTensor> make_f32_vector(SourceTensor values, MadeTensors& made, const std::string& path, float offset = 0);

// A copy of the bytes where they lie in memory, but not as kernels read them; else the tensor itself.
Result<SourceTensor> make_aligned(SourceTensor tensor, MadeTensors& made, const std::string& path);

// The rows of worker `worker` of `n_workers`: [first, second).
std::pair<int64_t, int64_t> share_of(int64_t n_rows, int worker, int n_workers);

}  // namespace tern
