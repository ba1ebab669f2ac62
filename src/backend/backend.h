// What a backend is: something that compiles a plan and then runs batches of tokens through it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "tern/gpu_stats.h"
#include "tern/options.h"

namespace tern {

class ThreadPool;

// Keys and values of one conversation, owned by the backend that made it. Rows are valid up to the position that the
// caller has run; running a batch at an earlier position overwrites what was there.
class KvCache {
 public:
  virtual ~KvCache() = default;
  virtual int n_ctx() const = 0;
  virtual uint64_t bytes() const = 0;  // when full
};

enum class WantLogits { kNone, kLast, kAll };

// Tokens at consecutive positions of one conversation.
struct Batch {
  std::span<const TokenId> tokens;  // 1 to max_batch(); with kAll at most max_logit_rows()
  int first_pos = 0;                // first_pos + tokens.size() ≤ the cache's n_ctx
  WantLogits logits = WantLogits::kLast;
  // With kLast: of the logits, only the n_best greatest (NaN aside), and whatever equals the least of these, will be
  // looked at. A backend may leave −infinity for any other, and is free to ignore this. 0: all are wanted.
  int n_best = 0;
};

// What a step wrote, for comparing backends: float rows (int8 blocks: as the floats that they stand for), or the int8
// rows as floats with their scales and sums.
struct StepOutput {
  const Step* step = nullptr;
  const Slot* slot = nullptr;
  int rows = 0;
  std::span<const float> values;  // [rows, width]; int8: the integers
  std::span<const float> scales;  // [rows]; int8 slots only
  std::span<const int32_t> sums;  // [rows]; int8 slots only
};
using StepObserver = std::function<void(const StepOutput&)>;

// How a device chooses tokens: as Sampler does (src/sample/sampler.h), without a repetition penalty.
struct DeviceSampling {
  float temperature = 0;  // 0: greedy, and `uniform` is not called
  int top_k = 0;
  float top_p = 1;
  float min_p = 0;
  std::function<float()> uniform = {};  // [0, 1), one call per token drawn, in the order of the tokens
};

// Tokens that the device chooses, in order.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  virtual Result<TokenId> next() = 0;
};

// One kind of operation inside a decoded token: the same kernel for the same purpose, in all layers.
struct OpTime {
  std::string name;    // what it computes: the step without its layer, "ffn_down"
  std::string kernel;  // that computes it
  int dispatches = 0;
  double seconds = 0;        // of all of them together, within a token
  double alone_seconds = 0;  // of as many, where nothing else runs
  uint64_t bytes = 0;        // that all of them have to move: weights, keys and values, activations
};
struct TokenTimes {
  std::vector<OpTime> ops;  // in the order of the token
  double seconds = 0;       // from one token to the next while tokens are generated
};

class Executable {
 public:
  virtual ~Executable() = default;

  virtual std::string description() const = 0;  // "cpu (avx512vnni, 2 threads)"
  virtual int max_batch() const = 0;
  virtual int max_logit_rows() const = 0;

  // kOutOfMemory where n_ctx tokens do not fit.
  virtual Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType type) const = 0;

  // Runs the batch and appends its keys and values to `cache`, which this executable made. Returns the wanted logits,
  // [rows, n_vocab], valid until the next run.
  virtual Result<std::span<const float>> run(KvCache& cache, const Batch& batch) = 0;

  // Lets the device choose tokens for itself: the stream runs `token` at position `pos`, gives the token chosen after
  // it, runs that at pos + 1, and so on, for at most n_tokens (≥ 1, and pos + n_tokens ≤ the cache's n_ctx). The device
  // may be some tokens ahead of the caller; what it has put into the cache past the tokens taken counts as never run.
  // Other streams and caches may be run meanwhile: the stream then goes on where it was, and the tokens that were ahead
  // are computed again. Null: this backend, or these options, need run() and a sampler.
  virtual Result<std::unique_ptr<TokenStream>> decode(KvCache& /*cache*/, TokenId /*token*/, int /*pos*/,
                                                      int /*n_tokens*/, const DeviceSampling& /*sampling*/) {
    return nullptr;
  }

  // For Engine and ModelInfo (include/tern/engine.h).
  // What is read for the logits of a token instead of the plan's last matrix: "exact (int8 + F16)".
  virtual std::optional<std::string> own_head() const { return {}; }
  // What a decoded token reads beyond the bytes of the plan's matrices, of which there may be copies in another order
  // or format. Below 0: less.
  virtual int64_t bytes_beyond_plan() const { return 0; }
  virtual std::optional<GpuStats> gpu_stats() const { return {}; }
  virtual std::optional<GpuAdapter> gpu_adapter() const { return {}; }
  virtual Result<std::vector<GpuKernel>> gpu_kernels() { return {}; }

  // Measures a token at position `pos` of an empty cache with room for pos + repeats + 2 tokens, `repeats` times, and
  // takes medians. kNotSupported where steps cannot be timed.
  virtual Result<TokenTimes> time_ops(KvCache& /*cache*/, int /*pos*/, int /*repeats*/) {
    return fail(ErrorCode::kNotSupported, "{} does not time single operations; use the webgpu backend", description());
  }

  // Called after every step with what it wrote, scratch aside; empty switches it off. For tests and `tern validate`:
  // slow.
  virtual void observe(StepObserver observer) = 0;
};

// Whether the head's best logits are found with an int8 copy of it (Batch::n_best).
enum class ExactHead {
  kNo,
  kWherePays,  // where it can be made, and the head is large
  kYes,        // kNotSupported where it cannot be made, kOutOfMemory
};

struct CompileOptions {
  int n_threads = 1;
  int max_batch = 256;
  int max_logit_rows = 16;
  ExactHead exact_head = ExactHead::kNo;  // cpu only
  GpuOptions gpu = {};
  bool only_hardware_gpu = false;  // kNotFound where the adapter that would be used draws on the CPU
  OnProgress on_progress = {};
  ThreadPool* pool = nullptr;  // to pack weights for a GPU on; null: the caller packs them alone
};

}  // namespace tern
