// What a backend is: something that compiles a plan and then runs batches of tokens through it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/kv_store.h"
#include "base/phase_times.h"
#include "base/result.h"
#include "plan/plan.h"
#include "tern/gpu_stats.h"
#include "tern/options.h"

namespace tern {

class ThreadPool;

class KvCache;

enum class WantLogits { kNone, kLast, kAll };

// Tokens at consecutive positions of one sequence.
struct Slice {
  std::span<const TokenId> tokens;
  int first_pos = 0;
  WantLogits logits = WantLogits::kLast;
  // Of each row of logits, only the n_best greatest (NaN aside), and whatever equals the least of these, will be
  // looked at. A backend may leave −infinity for any other, and is free to ignore this. 0: all are wanted.
  int n_best = 0;
  // The sequence's blocks, in order, which cover first_pos + tokens.size() positions, and the most that it may have:
  // some models turn the heads of long sequences otherwise (model/rope.h).
  std::span<const KvBlockId> blocks = {};
  int n_ctx = 0;

  int n_logit_rows() const {
    return logits == WantLogits::kNone ? 0 : logits == WantLogits::kLast ? 1 : static_cast<int>(tokens.size());
  }
};

// What is computed together: 1 to max_slices() slices of different sequences, max_batch() tokens and max_logit_rows()
// rows of logits at most.
using Batch = std::span<const Slice>;

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

// Tokens that the device chooses, in order, for one sequence or for several.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  // The next token of each sequence, in the order in which they were given; valid until the next call.
  virtual Result<std::span<const TokenId>> next() = 0;
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
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  virtual std::string description() const = 0;  // "cpu (avx512vnni, 2 threads)"
  virtual int max_batch() const = 0;
  virtual int max_logit_rows() const = 0;

  virtual int max_slices() const = 0;

  // How many positions a block has in stores for sequences of at most n_ctx tokens; and a store of such blocks.
  virtual int kv_block_tokens(int n_ctx) const = 0;
  virtual Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const = 0;

  // Runs the batch: writes keys and values at the slices' positions of `store`, which this executable made, and returns
  // the wanted logits, [rows, n_vocab], slice after slice, valid until the next run. Positions before a slice's first
  // have been run; what was there from it on is overwritten.
  virtual Result<std::span<const float>> run(KvStore& store, Batch batch) = 0;

  // Tokens of up to so many sequences are going to be run together: what has to be tried or compiled for that had
  // better be now.
  virtual Result<void> expect(int /*n_sequences*/) { return {}; }

  // Whether decode() may give a stream.
  virtual bool decodes() const { return false; }

  // Lets the device choose tokens for itself: the stream runs the only token of each slice, gives the tokens chosen
  // after them, runs those at the next positions, and so on, for at most n_tokens (≥ 1) of each, for all of which there
  // are blocks. `starts`: of different sequences, at most max_slices() and max_logit_rows(). `sampling`: how the tokens
  // of each are chosen. The device may be some tokens ahead of the caller; what it has written past the tokens taken
  // counts as never run. Other streams and batches may be run meanwhile: the stream then goes on where it was, and the
  // tokens that were ahead are computed again. Null: this backend, or these options, need run() and a sampler.
  virtual Result<std::unique_ptr<TokenStream>> decode(KvStore& /*store*/, Batch /*starts*/, int /*n_tokens*/,
                                                      std::span<const DeviceSampling> /*sampling*/) {
    return nullptr;
  }

  // A sequence that is alone in a store of its own (kv_cache.h), with room for n_ctx tokens. kOutOfMemory.
  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType type) const;
  // The slice's blocks are the cache's.
  Result<std::span<const float>> run(KvCache& cache, Slice slice);
  Result<std::unique_ptr<TokenStream>> decode(KvCache& cache, TokenId token, int pos, int n_tokens,
                                              const DeviceSampling& sampling);

  // For Engine and ModelInfo (include/tern/engine.h).
  // What is read for the logits of a token instead of the plan's last matrix: "exact (int8 + F16)".
  virtual std::optional<std::string> own_head() const { return {}; }
  // What a decoded token reads beyond the bytes of the plan's matrices, of which there may be copies in another order
  // or format. Below 0: less.
  virtual int64_t bytes_beyond_plan() const { return 0; }
  virtual std::optional<GpuStats> gpu_stats() const { return {}; }
  virtual std::optional<GpuAdapter> gpu_adapter() const { return {}; }
  virtual Result<std::vector<GpuKernel>> gpu_kernels() { return {}; }
  virtual std::vector<DeviceShare> device_shares() const { return {}; }

  // Measures a token of each slice, where there are blocks for `repeats` + 1 more, `repeats` times, and takes medians.
  // kNotSupported where steps cannot be timed.
  virtual Result<TokenTimes> time_ops(KvStore& /*store*/, Batch /*tokens*/, int /*repeats*/) {
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
  int max_batch = 256;
  // Where it is more: a GPU that reads prompts faster by so many tokens, and has the memory, may take up to so many.
  int most_batch = 0;
  int max_logit_rows = 16;
  ExactHead exact_head = ExactHead::kNo;  // the cpu and webgpu backends
  GpuOptions gpu = {};
  bool only_hardware_gpu = false;  // kNotFound where the adapter that would be used draws on the CPU
  OnProgress on_progress = {};
  ThreadPool* pool = nullptr;   // to pack weights for a GPU on; null: the caller packs them alone
  PhaseTimes* times = nullptr;  // told of phases while it compiles, not afterwards; may be null

  void end_phase(std::string_view phase) const {
    if (times) times->end(phase);
  }
};

}  // namespace tern
