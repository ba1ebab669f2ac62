#include "backend/gpu/run/choice.h"

#include <algorithm>
#include <cstring>

#include "backend/gpu/run/executable.h"
#include "base/check.h"

namespace tern::gpu {

bool is_random(const DeviceSampling& o) { return o.temperature > 0; }
bool is_xtc(const DeviceSampling& o) { return is_random(o) && o.xtc_probability > 0; }

int n_best_of(const DeviceSampling& o) {
  if (o.changes) return o.n_best();
  if (o.temperature == 0) return 1;
  return o.top_n_sigma > 0 ? 0 : std::max(o.top_k, 0);
}

void draw_for(const DeviceSampling& o, bool has_xtc, std::vector<float>& drawn, std::vector<float>& thresholds) {
  if (has_xtc) {
    const bool excludes = is_xtc(o) && o.uniform() < o.xtc_probability;
    thresholds.push_back(excludes ? o.xtc_threshold : DeviceSampler::kNoThreshold);
  }
  drawn.push_back(is_random(o) ? o.uniform() : 0.0f);
}

Result<void> check_tokens(std::span<const TokenId> tokens, int n_vocab, const std::string& device) {
  for (const TokenId token : tokens) {
    if (token >= 0 && token < n_vocab) continue;
    return fail(ErrorCode::kDeviceLost, "{}: the GPU chose token {}, which does not exist; its driver may be at fault",
                device, token);
  }
  return {};
}

Result<void> GpuExecutable::read_logits(std::span<const LogitRows> rows) {
  const auto width = static_cast<size_t>(plan_.slot(plan_.logits).width);
  size_t n = 0, at = 0;
  for (const LogitRows& part : rows) n += static_cast<size_t>(part.n) * width;
  run_.logits.resize(n);  // values that are there are overwritten, not cleared before
  for (const LogitRows& part : rows) {
    const std::span to = std::span(run_.logits).subspan(at, static_cast<size_t>(part.n) * width);
    BufferView from = work_->view(plan_.logits);
    from.offset += static_cast<size_t>(part.first) * width * sizeof(float);
    from.bytes = to.size_bytes();
    TRY_STATUS(device_->read(from, std::as_writable_bytes(to)));
    at += to.size();
  }
  return {};
}

Result<std::optional<ChosenTokens>> GpuExecutable::run_and_choose(KvStore& kv_store, Batch batch,
                                                                  std::span<const DeviceSampling> sampling) {
  const auto is_longer = [](const Slice& slice) { return slice.tokens.size() > 1; };
  const auto most_rows = static_cast<size_t>(std::min(max_slices(), max_logit_rows()));
  if (observer_ || sampling.empty() || sampling.size() > most_rows || std::ranges::none_of(batch, is_longer)) {
    return std::nullopt;
  }
  TRY(const Program* sampler, sampler_->choosing(sampling));
  if (sampler == nullptr) return std::nullopt;
  std::vector<Slice> slices(batch.begin(), batch.end());
  std::vector<LogitRows> rows_to_read;
  size_t row = 0;
  for (Slice& slice : slices) {
    CHECK(slice.n_logit_rows() <= 1);
    if (slice.n_logit_rows() == 0) continue;
    if (is_longer(slice)) rows_to_read.push_back({.first = static_cast<int>(row), .n = 1});
    slice.n_best = n_best_of(sampling[row++]);
  }
  CHECK(row == sampling.size());
  auto& store = static_cast<PreparedStore&>(kv_store);
  TRY(const RunShape shape, put_batch(store, slices));
  std::vector<float> drawn, thresholds;
  const bool has_xtc = std::ranges::any_of(sampling, is_xtc);
  for (const DeviceSampling& o : sampling) draw_for(o, has_xtc, drawn, thresholds);
  if (std::ranges::any_of(sampling, is_random)) TRY_STATUS(sampler_->set_draws(0, drawn));
  if (has_xtc) TRY_STATUS(sampler_->set_thresholds(0, thresholds));
  run_.commands.clear();
  store.program().commands(shape, run_.commands);
  // Read before the choice, whose filters change logits.
  if (!rows_to_read.empty()) {
    TRY_STATUS(device_->submit(run_.commands));
    run_.commands.clear();
  }
  TRY_STATUS(read_logits(rows_to_read));
  // The kernels feed tokens back as if each row of logits were the batch's row of that number. No step follows.
  sampler->commands(shape, run_.commands);
  TRY(const auto ids, device_->read_later(sampler_->ids(0, sampling.size()), run_.commands));
  TRY(const Bytes bytes, ids->wait());
  run_.chosen.resize(sampling.size());
  std::memcpy(run_.chosen.data(), bytes.data(), bytes.size());
  TRY_STATUS(check_tokens(run_.chosen, n_vocab(), device_name()));
  return ChosenTokens{.tokens = run_.chosen, .logits = run_.logits};
}

}  // namespace tern::gpu
