#include "backend/gpu/record/megakernel/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <vector>

#include "backend/gpu/memory/batch/batch_words.h"
#include "backend/kv_layout.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

// Numbers of tokens: compared, preceding them, and far from the first one. The total is odd, so that words have other
// tags when the tokens are computed again.
constexpr int kCompared = 7, kHistory = 24, kFar = 2;
static_assert(kFar % 2 == 0 && kHistory + kCompared < kKvBlock);
// Limit of the squared difference divided by the square; see run/trust/check_products.cc. Values that rounding moves to
// the next int8 contribute much less.
constexpr double kMostErrorOfLayers = 0.05;

class Trial {
 public:
  Trial(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work, Megakernel& one,
        int max_batch)
      : device_(device),
        plan_(plan),
        program_(program),
        work_(work),
        one_(one),
        max_batch_(max_batch),
        n_rows_(static_cast<int>(one.shape().tokens)),
        history_(plan.config, one.shape(), one.shape().most_splits) {}

  Result<MegakernelTrial> run() {
    MegakernelTrial trial;
    TRY_STATUS(run_history());
    TRY(const uint32_t most, most_workgroups());
    if (most == 0) {
      trial.why_not = "the GPU does not run enough workgroups at the same time";
      return trial;
    }
    for (const int n_rows : std::set{n_rows_, one_.fewest_rows()}) {
      TRY(trial.why_not, what_is_wrong(most, n_rows));
      if (!trial.why_not.empty()) return trial;
    }
    return fastest(most);
  }

 private:
  // The layers of these slices: in one dispatch of `megakernel_workgroups` workgroups, or in steps if it is 0.
  Result<std::vector<Command>> commands(Batch batch, uint32_t megakernel_workgroups) {
    BatchWords words;
    words.set(batch, work_.ropes());
    words.shape.megakernel_workgroups = megakernel_workgroups;
    TRY_STATUS(words.write(device_, work_));
    std::vector<Command> commands;
    program_.commands(words.shape, commands, 0, one_.end_step());
    return commands;
  }
  // `seed` selects the tokens.
  std::vector<TokenId> some_tokens(int n, int seed) const {
    std::vector<TokenId> tokens(static_cast<size_t>(n));
    const int range = std::max(plan_.config.n_vocab / 2, 1);
    for (int i = 0; i < n; ++i) tokens[static_cast<size_t>(i)] = range + (seed + i) * 7 % range;
    for (TokenId& token : tokens) token = std::min(token, plan_.config.n_vocab - 1);
    return tokens;
  }
  // Tokens [first, first + size) of a sequence with these blocks.
  Slice slice(std::span<const TokenId> tokens, int first, std::span<const KvBlockId> blocks) const {
    const int room = static_cast<int>(std::ssize(blocks)) * kKvBlock, end = first + static_cast<int>(tokens.size());
    return {.tokens = tokens,
            .first_pos = first,
            .blocks = blocks,
            .n_ctx = std::max(end, std::min(room, plan_.config.n_ctx))};
  }
  // Commands of a token at `pos`; with several rows, each is one position before the previous one. A token far from the
  // first has its own block for its key and value, which nothing else reads meanwhile; so has each of several rows.
  Result<std::vector<Command>> commands_of_token(int pos, uint32_t megakernel_workgroups, int n_rows) {
    std::deque<std::vector<KvBlockId>> blocks;
    std::deque<std::vector<TokenId>> tokens;
    std::vector<Slice> slices;
    for (int row = 0; row < n_rows; ++row) {
      const int at = pos - row;
      std::vector<KvBlockId>& of_row = blocks.emplace_back();
      for (int i = 0; i < kv_blocks_for(at + 1); ++i) of_row.push_back(history_.block(i));
      if (of_row.size() > 1) {
        of_row.back() = kHistoryBlocks + row;
      } else if (n_rows_ > 1) {
        of_row.back() = kHistoryBlocks + n_rows_ + row;
      }
      slices.push_back(slice(tokens.emplace_back(some_tokens(1, at + kKvBlock * row)), at, of_row));
    }
    return commands(slices, megakernel_workgroups);
  }

  // Fills the blocks, each as if it were a sequence's first.
  Result<void> run_history() {
    for (KvBlockId block = 0; block < blocks_of_trial(one_.shape().tokens); ++block) {
      const bool is_far = block >= kHistoryBlocks && block < kHistoryBlocks + n_rows_;
      for (int pos = 0; pos < kKvBlock && !is_far; pos += max_batch_) {
        const auto tokens = some_tokens(std::min(max_batch_, kKvBlock - pos), kKvBlock * block + pos);
        const Slice part = slice(tokens, pos, {&block, 1});
        TRY(const auto list, commands({&part, 1}, 0));
        TRY_STATUS(device_.submit(list));
      }
    }
    return {};
  }

  // The rows of x after the layers, computed for a token at `pos`.
  Result<std::vector<float>> rows(int pos, uint32_t megakernel_workgroups, int n_rows) {
    if (megakernel_workgroups > 0) TRY_STATUS(one_.ready(megakernel_workgroups, n_rows, pos + 1));
    TRY(const auto list, commands_of_token(pos, megakernel_workgroups, n_rows));
    TRY_STATUS(device_.submit(list));
    return read_values<float>(device_, work_.view(one_.x()), static_cast<size_t>(n_rows * plan_.config.d_model));
  }

  uint32_t splits(uint32_t workgroups, int n_rows) const {
    return one_.shape().splits(workgroups, static_cast<uint32_t>(n_rows));
  }
  // True if the splits are the same for every number of rows.
  bool has_splits_of(uint32_t workgroups, uint32_t others) const {
    if (one_.shape().short_splits(workgroups) != one_.shape().short_splits(others)) return false;
    for (int n = one_.fewest_rows(); n <= n_rows_; ++n) {
      if (splits(workgroups, n) != splits(others, n)) return false;
    }
    return true;
  }

  Result<bool> runs_together(uint32_t workgroups) {
    TRY_STATUS(one_.reset(Megakernel::SpinLimit::kForTrials));
    TRY(const auto list, commands_of_token(kHistory, workgroups, n_rows_));
    TRY_STATUS(device_.submit(list));
    std::array<uint32_t, 2> outcome{};
    TRY_STATUS(device_.read(one_.outcome(), std::as_writable_bytes(std::span(outcome))));
    return outcome[0] == 0;
  }

  // The most workgroups that run at the same time; 0: too few.
  Result<uint32_t> most_workgroups() {
    const uint32_t too_many = one_.shape().most_workgroups() + 1;
    uint32_t fits = 0, fails = too_many;
    for (uint32_t n = one_.shape().least_workgroups(); fits + 1 < fails;) {
      TRY(const bool together, runs_together(n));
      (together ? fits : fails) = n;
      if (!together && fits == 0) return 0;
      n = fails == too_many ? std::min(2 * n, too_many - 1) : (fits + fails) / 2;
    }
    return fits;
  }

  int longest_short_history() const {
    return std::min(static_cast<int>(one_.shape().short_positions(workgroups_)), history_.n_positions);
  }

  // Results for tokens that attend to those before them: to a few, to as many as a short history has
  // (LayersShape::short_rounds), and to many.
  using Tokens = std::vector<std::vector<float>>;
  Result<Tokens> tokens(uint32_t megakernel_workgroups, int n_rows) {
    std::vector<int> positions(kCompared);
    std::iota(positions.begin(), positions.end(), kHistory);
    for (int end : {longest_short_history(), history_.n_positions}) {
      // Keep the tokens of all rows within one block.
      if (const int in_last = end % kKvBlock; in_last != 0 && in_last < kFar + n_rows - 1) end -= in_last;
      if (end <= kKvBlock) continue;
      for (int pos = end - kFar; pos < end; ++pos) positions.push_back(pos);
    }
    Tokens all;
    for (const int pos : positions) {
      TRY(auto x, rows(pos, megakernel_workgroups, n_rows));
      all.push_back(std::move(x));
    }
    return all;
  }

  // Describes what is wrong; empty if the results are right.
  Result<std::string> what_is_wrong(uint32_t workgroups, int n_rows) {
    TRY_STATUS(one_.reset(Megakernel::SpinLimit::kDefault));
    workgroups_ = workgroups;
    history_ = LongHistory(plan_.config, one_.shape(), splits(workgroups, n_rows));
    TRY(const Tokens at_once, tokens(workgroups, n_rows));
    TRY(const Tokens again, tokens(workgroups, n_rows));
    TRY(const Tokens in_steps, tokens(0, n_rows));
    // Reading a value while it is being written seldom gives the same result twice.
    const auto same_bits = [](const std::vector<float>& a, const std::vector<float>& b) {
      return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
    };
    if (!std::ranges::equal(at_once, again, same_bits))
      return std::string("the GPU computes a token twice and not alike");
    double worst = 0;
    for (size_t i = 0; i < at_once.size(); ++i) {
      double error = 0, power = 0;
      for (size_t k = 0; k < at_once[i].size(); ++k) {
        const double a = static_cast<double>(in_steps[i][k]), off = static_cast<double>(at_once[i][k]) - a;
        error += off * off;
        power += a * a;
      }
      // Values that are not finite are detected when a token is computed (engine/kv/not_finite.h).
      if (!std::isfinite(power) || power == 0) continue;
      if (!(error <= worst * power)) worst = std::isnan(error) ? HUGE_VAL : error / power;
    }
    if (worst <= kMostErrorOfLayers) return std::string();
    return format_text("the GPU computes wrongly (a relative error of {:.2g})", std::sqrt(worst));
  }

  Result<double> seconds(int n_rows, uint32_t megakernel_workgroups) {
    TRY_STATUS(one_.reset(Megakernel::SpinLimit::kDefault));
    constexpr int kRuns = 5;
    std::array<double, kRuns> all{};
    for (double& one_run : all) {
      TRY(const auto list, commands_of_token(kHistory + kCompared, megakernel_workgroups, n_rows));
      TRY(one_run, device_.time_whole(list));
    }
    std::ranges::sort(all);
    return all[kRuns / 2];
  }

  // The largest number that runs at the same time may be slightly too many: each workgroup has less to do but waits for
  // more. The fastest number may vary from start to start; a token's result must not.
  Result<MegakernelTrial> fastest(uint32_t most) {
    MegakernelTrial trial{.workgroups = most};
    if (!device_.features().timestamps) return trial;
    double least_time = 0;
    for (const uint32_t n : {most, most * 31 / 32, most * 29 / 32}) {
      if (n < one_.shape().least_workgroups() || !has_splits_of(n, most)) continue;
      TRY(const double time, seconds(n_rows_, n));
      if (least_time == 0 || time < least_time) trial.workgroups = n, least_time = time;
    }
    for (int n = one_.fewest_rows(); n <= n_rows_; ++n) {
      MegakernelTrial::Times times{.n_rows = n, .seconds = least_time};
      if (n < n_rows_) {
        TRY(times.seconds, seconds(n, trial.workgroups));
      }
      TRY(times.in_steps, seconds(n, 0));
      trial.times.push_back(times);
    }
    return trial;
  }

  Device& device_;
  const Plan& plan_;
  const Program& program_;
  const WorkBuffers& work_;
  Megakernel& one_;
  int max_batch_, n_rows_;
  uint32_t workgroups_ = 0;  // of the current trial
  LongHistory history_;
};

}  // namespace

Result<MegakernelTrial> try_megakernel(Device& device, const Plan& plan, const Program& program,
                                       const WorkBuffers& work, Megakernel& one, int max_batch) {
  return Trial(device, plan, program, work, one, max_batch).run();
}

}  // namespace tern::gpu
