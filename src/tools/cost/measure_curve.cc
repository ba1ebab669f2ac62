#include "tools/cost/measure_curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "tools/random_values.h"

namespace tern {
namespace {

constexpr int kLeastContext = 8;
constexpr int kMostPrompt = 4096;     // tokens; longer prompts are extrapolated from the last two lengths
constexpr int kFirstPrompt = 8;       // the length after 1 token
constexpr double kPromptShare = 0.5;  // of the time budget
constexpr double kLongEnough = 0.08;  // seconds of measuring per figure
constexpr int kUpdates = 3;           // of an energy counter, the minimum for a power figure
constexpr int kMostPromptRuns = 5;    // of one prompt length
constexpr int kBlocks = 3;            // of steps; the shortest counts
constexpr int kMostStepsOfBlock = 16;
constexpr int kWarmUpSteps = 2;
constexpr int kMostMoves = 16;
constexpr int kReplies[] = {1, 4, 16};
constexpr int kContexts[] = {0, 256, 1024, 4096};  // tokens before the measured step
constexpr int kMostContextOfMany = 256;            // … for several replies, because their KV caches are large

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Keeps the shortest of several measurements, because other load on the machine only makes them longer.
class Measuring {
 public:
  Measuring(Executable& executable, const MeasureOptions& options)
      : executable_(executable), options_(options), clock_(options.seconds ? options.seconds : now) {
    const CounterRandom random(1);
    for (int i = 0; i < std::min(options.n_ctx, kMostPrompt); ++i) {
      tokens_.push_back(
          static_cast<TokenId>(random(static_cast<uint64_t>(i)) % static_cast<uint64_t>(options.n_vocab)));
    }
  }

  Result<MeasuredCosts> run() {
    const double begin = clock_();
    TRY_STATUS(measure_prompts(begin + options_.budget * kPromptShare));
    for (const int replies : kReplies) {
      const int most = std::min({executable_.max_slices(), executable_.max_logit_rows(), executable_.max_batch()});
      if (replies > most) break;
      TRY_STATUS(measure_steps(replies, begin + options_.budget));
    }
    TRY_STATUS(measure_moving());
    if (!costs_.energy_reason.empty()) forget_joules();
    return std::move(costs_);
  }

 private:
  // Sequences side by side in one KV store.
  struct Place {
    std::unique_ptr<KvStore> store = nullptr;
    std::vector<std::vector<KvBlockId>> blocks = {};  // of each sequence
    int n_ctx = 0;
  };

  struct Reading {
    double seconds = 0;
    std::optional<double> joules;
  };

  // Readings exclude their own time: reading a GPU's counter takes milliseconds.
  Reading reading_before() {
    Reading reading{.seconds = 0, .joules = joules()};
    reading.seconds = clock_();
    return reading;
  }
  Reading reading_after() {
    Reading reading{.seconds = clock_(), .joules = {}};
    reading.joules = joules();
    return reading;
  }
  // After a failed reading the counter is no longer read; seconds are still measured.
  std::optional<double> joules() {
    if (!options_.energy || !costs_.energy_reason.empty()) return {};
    const auto joules = options_.energy->joules();
    if (joules) return *joules;
    costs_.energy_reason = joules.error().message;
    return {};
  }

  void forget_joules() {
    for (CurvePoint& point : costs_.prompt) point.cost.joules.reset();
    for (StepCurve& curve : costs_.steps) {
      for (CurvePoint& point : curve.points) point.cost.joules.reset();
    }
  }

  // The cost of this many seconds at the average power between the two readings.
  static Cost cost_of(double seconds, const Reading& begin, const Reading& end) {
    Cost cost{.seconds = seconds};
    const double elapsed = end.seconds - begin.seconds;
    if (begin.joules && end.joules && elapsed > 0) cost.joules = (*end.joules - *begin.joules) / elapsed * seconds;
    return cost;
  }
  // True if there is no counter or enough updates of it have passed since `begin`.
  bool has_watts(const Reading& begin) const {
    if (!begin.joules) return true;
    return clock_() - begin.seconds >= kUpdates * options_.energy->seconds_between_updates();
  }

  Result<Place> make_place(int replies, int n_ctx) {
    Place place{.n_ctx = n_ctx};
    TRY(place.store, executable_.new_kv_store(executable_.kv_block_tokens(n_ctx), options_.kv_type));
    const int per_reply = (n_ctx + place.store->block_tokens() - 1) / place.store->block_tokens();
    const auto n_blocks = static_cast<uint64_t>(per_reply) * static_cast<uint64_t>(replies);
    if (options_.most_kv_bytes > 0 && place.store->block_bytes() * n_blocks > options_.most_kv_bytes) {
      return fail(ErrorCode::kOutOfMemory, "keys and values of {} replies of {} tokens", replies, n_ctx);
    }
    TRY_STATUS(place.store->reserve(per_reply * replies));
    for (int reply = 0; reply < replies; ++reply) {
      auto& blocks = place.blocks.emplace_back();
      for (int i = 0; i < per_reply; ++i) {
        blocks.push_back(reply * per_reply + i);
        TRY_STATUS(place.store->allocate(blocks.back()));
      }
    }
    return place;
  }

  // Memory that was never written may map to one page of zeros, which reads far too fast.
  static Result<void> write_to_all(Place& place) {
    for (const auto& blocks : place.blocks) {
      for (const KvBlockId block : blocks) {
        if (block > 0) TRY_STATUS(place.store->copy(0, block));
      }
    }
    return {};
  }

  // Makes room for the longest prompt that fits into memory.
  Result<Place> place_for_prompts() {
    for (auto n = static_cast<int>(tokens_.size());; n /= 2) {
      auto place = make_place(1, n);
      const bool may_try_less = !place && place.error().code == ErrorCode::kOutOfMemory && n >= 2 * kLeastContext;
      if (!may_try_less) return place;
    }
  }

  // Splits the prompt into the executable's largest batches, as a session does.
  Result<void> run_prompt(Place& place, int n) {
    for (int at = 0; at < n;) {
      const int size = std::min(n - at, executable_.max_batch());
      const Slice slice{.tokens = std::span(tokens_).subspan(static_cast<size_t>(at), static_cast<size_t>(size)),
                        .first_pos = at,
                        .logits = at + size == n ? WantLogits::kLast : WantLogits::kNone,
                        .n_best = 1,
                        .blocks = place.blocks.front(),
                        .n_ctx = place.n_ctx};
      TRY_STATUS(executable_.run(*place.store, {&slice, 1}).transform([](auto) {}));
      at += size;
    }
    return {};
  }

  Result<double> time_prompt(Place& place, int n) {
    const double start = clock_();
    TRY_STATUS(run_prompt(place, n));
    return clock_() - start;
  }

  Result<void> measure_prompts(double until) {
    TRY(Place place, place_for_prompts());
    std::vector<int> lengths = {1};
    const int most = place.n_ctx;
    for (int n = kFirstPrompt; n < most; n *= 2) lengths.push_back(n);
    lengths.push_back(most);
    TRY(const double first, time_prompt(place, 1));
    for (const int n : lengths) {
      if (!costs_.prompt.empty()) {
        const CurvePoint& last = costs_.prompt.back();
        if (clock_() + last.cost.seconds * n / last.tokens > until) break;
      }
      std::vector<double> runs;
      double spent = 0;
      Reading before = reading_before();
      // The first run of a length may compile kernels.
      TRY(const double warm_up, time_prompt(place, n));
      if (warm_up > kLongEnough && clock_() + warm_up > until) {
        runs.push_back(warm_up);
        spent = warm_up;
      } else {
        before = reading_before();
      }
      while (runs.empty() || (spent < kLongEnough && std::ssize(runs) < kMostPromptRuns) || !has_watts(before)) {
        TRY(const double seconds, time_prompt(place, n));
        runs.push_back(seconds);
        spent += seconds;
      }
      const Reading after = reading_after();
      costs_.prompt.push_back({.tokens = n, .cost = cost_of(std::ranges::min(runs), before, after)});
    }
    costs_.first_pass_seconds = std::max(first - costs_.prompt.front().cost.seconds, 0.0);
    return {};
  }

  std::vector<Slice> slices_at(const Place& place, int pos) const {
    std::vector<Slice> slices;
    for (size_t i = 0; i < place.blocks.size(); ++i) {
      slices.push_back({.tokens = std::span(tokens_).subspan(i % tokens_.size(), 1),
                        .first_pos = pos,
                        .logits = WantLogits::kLast,
                        .n_best = 1,
                        .blocks = place.blocks[i],
                        .n_ctx = place.n_ctx});
    }
    return slices;
  }

  // Runs steps through the device's own token stream if it has one, else through single passes. begin(n) covers all n
  // steps.
  class Steps {
   public:
    Steps(Measuring& m, Place& place, int pos) : m_(m), place_(place), pos_(pos) {}
    Result<void> begin(int n) {
      if (!m_.executable_.decodes()) return {};
      const std::vector<DeviceSampling> greedy(place_.blocks.size());
      starts_ = m_.slices_at(place_, pos_);
      TRY(stream_, m_.executable_.decode(*place_.store, starts_, n, greedy));
      return {};
    }
    Result<void> take() {
      if (stream_) return stream_->next().transform([](auto) {});
      const std::vector<Slice> slices = m_.slices_at(place_, pos_++);
      return m_.executable_.run(*place_.store, slices).transform([](auto) {});
    }

   private:
    Measuring& m_;
    Place& place_;
    int pos_;
    std::vector<Slice> starts_;
    std::unique_ptr<TokenStream> stream_;
  };

  Result<CurvePoint> time_steps(Place& place, int pos, int most_of_block) {
    const Reading before = reading_before();
    TRY(CurvePoint point, time_stream(place, pos, most_of_block));
    while (!has_watts(before)) TRY_STATUS(time_stream(place, pos, most_of_block).transform([](auto) {}));
    point.cost = cost_of(point.cost.seconds, before, reading_after());
    return point;
  }

  Result<CurvePoint> time_stream(Place& place, int pos, int most_of_block) {
    Steps steps(*this, place, pos);
    TRY_STATUS(steps.begin(kWarmUpSteps + kBlocks * most_of_block));
    const double start = clock_();
    for (int i = 0; i < kWarmUpSteps; ++i) TRY_STATUS(steps.take());
    const double each = std::max((clock_() - start) / kWarmUpSteps, 1e-9);
    const int n = std::clamp(static_cast<int>(std::lround(kLongEnough / each)), 1, most_of_block);
    CurvePoint least;
    for (int block = 0; block < kBlocks; ++block) {
      const double begin = clock_();
      for (int i = 0; i < n; ++i) TRY_STATUS(steps.take());
      const double seconds = (clock_() - begin) / n;
      const CurvePoint point{.tokens = pos + kWarmUpSteps + block * n + n / 2, .cost = {.seconds = seconds}};
      if (block == 0 || point.cost.seconds < least.cost.seconds) least = point;
    }
    return least;
  }

  // Measures steps at the context lengths that time and memory allow. Earlier KV entries are zeros or whatever the
  // memory contained; the time is the same.
  Result<void> measure_steps(int replies, double until) {
    StepCurve curve{.replies = replies};
    for (const int context : kContexts) {
      const int most = std::min(kMostStepsOfBlock, (options_.n_ctx - kWarmUpSteps) / kBlocks);
      const int n_steps = kWarmUpSteps + kBlocks * most, at = std::min(context, options_.n_ctx - n_steps);
      if (!curve.points.empty() && (at <= curve.points.back().tokens || clock_() > until)) break;
      if (replies > 1 && (context > kMostContextOfMany || clock_() > until)) break;
      auto place = make_place(replies, at + n_steps);
      const bool is_first = curve.points.empty() && costs_.steps.empty();
      if (!place && place.error().code == ErrorCode::kOutOfMemory && !is_first) break;
      if (!place) return std::unexpected(place.error());
      TRY_STATUS(write_to_all(*place));
      TRY(const CurvePoint point, time_steps(*place, at, most));
      curve.points.push_back(point);
    }
    if (!curve.points.empty()) costs_.steps.push_back(std::move(curve));
    return {};
  }

  // Measures how long one block takes to move out and in: the shortest of a few times.
  Result<void> measure_moving() {
    TRY(Place place, make_place(1, 1));
    const KvBlockId block = place.blocks.front().front();
    std::vector<std::byte> contents(place.store->block_bytes(), std::byte{1});
    TRY_STATUS(place.store->write(block, contents));
    std::vector<double> out, in_and_out;
    const double begin = clock_();
    while (out.size() < 2 || (std::ssize(out) < kMostMoves && clock_() - begin < kLongEnough)) {
      // A write may complete after the call returns; a read afterwards proves that it arrived.
      const double start = clock_();
      TRY_STATUS(place.store->read(block, contents));
      const double middle = clock_();
      TRY_STATUS(place.store->write(block, contents));
      TRY_STATUS(place.store->read(block, contents));
      out.push_back(middle - start);
      in_and_out.push_back(clock_() - middle);
    }
    const double read = std::ranges::min(out), both = std::ranges::min(in_and_out);
    costs_.kv_out_seconds = read / place.store->block_tokens();
    costs_.kv_in_seconds = std::max(both - read, 0.0) / place.store->block_tokens();
    return {};
  }

  Executable& executable_;
  const MeasureOptions& options_;
  const std::function<double()> clock_;
  std::vector<TokenId> tokens_;
  MeasuredCosts costs_;
};

}  // namespace

Result<MeasuredCosts> measure_costs(Executable& executable, const MeasureOptions& options) {
  if (options.n_ctx < kLeastContext || options.n_vocab < 1) {
    return fail(ErrorCode::kInvalidArgument, "a context of {} tokens is too short to measure", options.n_ctx);
  }
  return Measuring(executable, options).run();
}

}  // namespace tern
