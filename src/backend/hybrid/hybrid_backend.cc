#include "backend/hybrid/hybrid_backend.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/hybrid/hybrid_kv_store.h"
#include "base/check.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"

namespace tern::hybrid {
namespace {

constexpr size_t kDevices = 2;

// Logits of a pass, [rows, n_vocab].
struct Rows {
  std::span<const float> values;
  std::vector<float> own = {};  // the storage of `values`, if no executable holds all of them
};

bool is_prompt(const Slice& slice) { return slice.tokens.size() > 1; }

// Splits the slices into passes that the executable can run; slices that are too long are cut into pieces.
std::vector<std::vector<Slice>> passes_of(const Executable& executable, std::span<const Slice> slices) {
  std::vector<std::vector<Slice>> passes(1);
  int n_tokens = 0, n_rows = 0;
  const auto begin_pass = [&] {
    passes.emplace_back();
    n_tokens = n_rows = 0;
  };
  for (const Slice& slice : slices) {
    for (size_t at = 0; at < slice.tokens.size();) {
      const bool all = slice.logits == WantLogits::kAll;
      const auto room = [&] {
        const int rows = executable.max_logit_rows() - n_rows;
        if (std::ssize(passes.back()) == executable.max_slices()) return 0;
        if (slice.logits != WantLogits::kNone && rows == 0) return 0;
        const int tokens = executable.max_batch() - n_tokens;
        return all ? std::min(tokens, rows) : tokens;
      };
      if (room() == 0) begin_pass();
      const size_t n = std::min(slice.tokens.size() - at, static_cast<size_t>(room()));
      Slice piece = slice;
      piece.tokens = slice.tokens.subspan(at, n);
      piece.first_pos += static_cast<int>(at);
      at += n;
      if (slice.logits == WantLogits::kLast && at < slice.tokens.size()) piece.logits = WantLogits::kNone;
      n_tokens += static_cast<int>(n);
      n_rows += piece.n_logit_rows();
      passes.back().push_back(piece);
    }
  }
  return passes;
}

Result<Rows> run_on(Executable& executable, KvStore& store, std::span<const Slice> slices) {
  const auto passes = passes_of(executable, slices);
  Rows rows;
  for (const auto& pass : passes) {
    TRY(rows.values, executable.run(store, pass));
    if (passes.size() > 1) rows.own.insert(rows.own.end(), rows.values.begin(), rows.values.end());
  }
  if (passes.size() > 1) rows.values = rows.own;
  return rows;
}

// Forwards a device's stream and counts its tokens.
class CountedStream final : public TokenStream {
 public:
  CountedStream(std::unique_ptr<TokenStream> stream, uint64_t& n_tokens, bool& is_lost)
      : stream_(std::move(stream)), n_tokens_(n_tokens), is_lost_(is_lost) {}
  Result<std::span<const TokenId>> next() override {
    auto tokens = stream_->next();
    if (tokens) {
      n_tokens_ += tokens->size();
    } else {
      is_lost_ |= tokens.error().code == ErrorCode::kDeviceLost;
    }
    return tokens;
  }

 private:
  std::unique_ptr<TokenStream> stream_;
  uint64_t& n_tokens_;
  bool& is_lost_;
};

class HybridExecutable final : public Executable {
 public:
  HybridExecutable(std::array<Device, kDevices> devices, PassCost cost) : cost_(std::move(cost)) {
    for (size_t device = 0; device < kDevices; ++device) {
      devices_[device] = std::move(devices[device].executable);
      shares_[device].device = std::move(devices[device].name);
    }
    max_batch_ = batch_of_prompts();
  }

  std::string description() const override {
    return format_text("both: {}, and {}", devices_[0]->description(), devices_[1]->description());
  }
  int max_batch() const override { return max_batch_; }
  int max_logit_rows() const override { return most(&Executable::max_logit_rows); }
  int max_slices() const override { return most(&Executable::max_slices); }
  int kv_block_tokens(int n_ctx) const override { return devices_[0]->kv_block_tokens(n_ctx); }
  Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const override {
    std::array<std::unique_ptr<KvStore>, kDevices> stores;
    for (size_t device = 0; device < kDevices; ++device) {
      TRY(stores[device], devices_[device]->new_kv_store(block_tokens, type));
    }
    return std::make_unique<HybridKvStore>(std::move(stores));
  }

  Result<std::span<const float>> run(KvStore& store, Batch batch) override;
  Result<void> expect(int n_sequences) override {
    for (const auto& device : devices_) TRY_STATUS(device->expect(n_sequences));
    return {};
  }

  bool decodes() const override {
    return std::ranges::any_of(devices_, [](const auto& device) { return device->decodes(); });
  }
  Result<std::unique_ptr<TokenStream>> decode(KvStore& store, Batch starts, int n_tokens,
                                              std::span<const DeviceSampling> sampling) override {
    auto& hybrid = static_cast<HybridKvStore&>(store);
    const size_t device = cheapest(hybrid, starts);
    Executable& executable = *devices_[device];
    const bool fits = std::ssize(starts) <= std::min(executable.max_slices(), executable.max_logit_rows());
    if (!executable.decodes() || !fits) return nullptr;
    TRY_STATUS(bring(hybrid, device, starts));
    TRY(auto stream, executable.decode(hybrid.on(device), starts, n_tokens, sampling));
    if (!stream) return nullptr;
    for (const Slice& start : starts) {
      hybrid.written(device, start.blocks, start.first_pos, start.first_pos + n_tokens);
    }
    return std::make_unique<CountedStream>(std::move(stream), shares_[device].single_tokens, is_lost_[device]);
  }

  std::optional<std::string> own_head() const override { return first_of(&Executable::own_head); }
  int64_t bytes_beyond_plan() const override { return devices_[0]->bytes_beyond_plan(); }
  std::optional<GpuStats> gpu_stats() const override { return first_of(&Executable::gpu_stats); }
  std::optional<GpuAdapter> gpu_adapter() const override { return first_of(&Executable::gpu_adapter); }
  Result<std::vector<GpuKernel>> gpu_kernels() override {
    for (const auto& device : devices_) {
      if (device->gpu_adapter()) return device->gpu_kernels();
    }
    return std::vector<GpuKernel>{};
  }
  std::vector<DeviceShare> device_shares() const override { return {shares_.begin(), shares_.end()}; }
  void observe(StepObserver observer) override {
    for (const auto& device : devices_) device->observe(observer);
  }

 private:
  int most(int (Executable::*limit)() const) const {
    return std::max((*devices_[0].*limit)(), (*devices_[1].*limit)());
  }
  template <class T>
  std::optional<T> first_of(std::optional<T> (Introspection::*fact)() const) const {
    for (const auto& device : devices_) {
      if (auto found = (*device.*fact)()) return found;
    }
    return {};
  }

  Result<void> bring(HybridKvStore& store, size_t device, Batch slices) {
    for (const Slice& slice : slices) {
      const int64_t missing = store.n_missing(device, slice.blocks, slice.first_pos);
      if (missing == 0) continue;
      TRY_STATUS(store.bring(device, slice.blocks, slice.first_pos));
      shares_[device].tokens_brought += static_cast<uint64_t>(missing);
    }
    return {};
  }

  int batch_of_prompts() const {
    const std::vector<TokenId> tokens(static_cast<size_t>(most(&Executable::max_batch)));
    const Slice prompt{.tokens = tokens, .logits = WantLogits::kNone};
    return devices_[cost_(1, {&prompt, 1}, {}) < cost_(0, {&prompt, 1}, {}) ? 1 : 0]->max_batch();
  }

  size_t cheapest(const HybridKvStore& store, Batch slices) const {
    Missing missing{};
    for (size_t device = 0; device < kDevices; ++device) {
      for (const Slice& slice : slices) missing[device] += store.n_missing(device, slice.blocks, slice.first_pos);
    }
    for (size_t device = 0; device < kDevices; ++device) {
      if (is_lost_[device] && missing[1 - device] == 0) return 1 - device;
    }
    return cost_(1, slices, missing) < cost_(0, slices, missing) ? 1 : 0;
  }

  std::array<std::unique_ptr<Executable>, kDevices> devices_;
  PassCost cost_;
  int max_batch_ = 0;
  std::array<DeviceShare, kDevices> shares_;
  std::array<bool, kDevices> is_lost_{};
  std::array<Rows, kDevices> rows_;
  std::vector<float> logits_;  // of both devices, in the order of the batch
};

Result<std::span<const float>> HybridExecutable::run(KvStore& store, Batch batch) {
  auto& hybrid = static_cast<HybridKvStore&>(store);
  std::array<std::vector<Slice>, 2> kinds;
  for (const Slice& slice : batch) kinds[is_prompt(slice) ? 1 : 0].push_back(slice);
  std::array<size_t, 2> device_of{};  // for single tokens, for prompts
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    if (!kinds[kind].empty()) device_of[kind] = cheapest(hybrid, kinds[kind]);
  }
  std::array<std::vector<Slice>, kDevices> slices;  // on each device, in the order of the batch
  for (const Slice& slice : batch) slices[device_of[is_prompt(slice) ? 1 : 0]].push_back(slice);
  for (size_t device = 0; device < kDevices; ++device) {
    TRY_STATUS(bring(hybrid, device, slices[device]));
  }
  for (size_t device = 0; device < kDevices; ++device) {
    for (const Slice& slice : slices[device]) {
      const size_t n = slice.tokens.size();
      hybrid.written(device, slice.blocks, slice.first_pos, slice.first_pos + static_cast<int>(n));
      (n > 1 ? shares_[device].prompt_tokens : shares_[device].single_tokens) += n;
    }
  }
  const auto run_device = [&](size_t device) {
    auto rows = run_on(*devices_[device], hybrid.on(device), slices[device]);
    if (!rows) is_lost_[device] |= rows.error().code == ErrorCode::kDeviceLost;
    return rows;
  };
  for (size_t device = 0; device < kDevices; ++device) {
    if (!slices[1 - device].empty()) continue;
    TRY(rows_[device], run_device(device));
    return rows_[device].values;
  }
  std::optional<Result<Rows>> first, second;
  {
    const Result<std::jthread> beside = start_thread("the GPU", [&] { second = run_device(1); });
    first = run_device(0);
  }
  if (!second) second = run_device(1);
  TRY(rows_[0], *std::move(first));
  TRY(rows_[1], *std::move(second));
  int n_rows = 0;
  for (const Slice& slice : batch) n_rows += slice.n_logit_rows();
  if (n_rows == 0) return std::span<const float>{};
  const size_t width = (rows_[0].values.size() + rows_[1].values.size()) / static_cast<size_t>(n_rows);
  std::array<std::span<const float>, kDevices> left = {rows_[0].values, rows_[1].values};
  logits_.clear();
  for (const Slice& slice : batch) {
    auto& values = left[device_of[is_prompt(slice) ? 1 : 0]];
    const auto own = values.first(static_cast<size_t>(slice.n_logit_rows()) * width);
    logits_.insert(logits_.end(), own.begin(), own.end());
    values = values.subspan(own.size());
  }
  return logits_;
}

}  // namespace

std::unique_ptr<Executable> combine(std::array<Device, 2> devices, PassCost cost) {
  CHECK(devices[0].executable->kv_block_tokens(1) == devices[1].executable->kv_block_tokens(1));
  return std::make_unique<HybridExecutable>(std::move(devices), std::move(cost));
}

}  // namespace tern::hybrid
