// The two layer paths of a token: steps, or the megakernel if it has been tested and is faster.
#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "backend/gpu/run/executable.h"
#include "backend/gpu/trust/try_one_dispatch.h"
#include "base/check.h"
#include "base/format_text.h"
#include "base/log.h"

namespace tern::gpu {
namespace {

constexpr std::string_view kKvTooLarge = "keys and values of all layers are more than the GPU binds at once";

}  // namespace

Result<void> GpuExecutable::plan_one_dispatch(std::optional<LayersInOne>& layers) {
  const OneDispatchUse use = options_.gpu.one_dispatch;
  if (use == OneDispatchUse::kOff || layouts_.serial) {
    if (use == OneDispatchUse::kOn) why_in_steps_ = "software drivers run kernels of their own";
    return {};
  }
  if (use == OneDispatchUse::kAuto && device_->adapter().type == AdapterType::kSoftware) return {};
  auto found = layers_in_one(*device_, plan_, layouts_.int8_x);
  if (!found) {
    why_in_steps_ = found.error().message;
    return {};
  }
  if (const auto kept = weights_.keep_together(found->matrices); !kept) {
    if (kept.error().code != ErrorCode::kOutOfMemory) return kept;
    why_in_steps_ = kept.error().message;  // they may fit in pieces
    return {};
  }
  layers = std::move(*found);
  return {};
}

// On any failure, the steps are used instead.
Result<void> GpuExecutable::try_one_dispatch(const PreparedStore& store) {
  if (!one_) return {};
  one_->leave();
  why_in_steps_.clear();
  if (only_in_steps_) return {};
  if (!store.all_layers().buffer) {
    why_in_steps_ = kKvTooLarge;
    return {};
  }
  TRY(why_in_steps_, try_one_dispatch(*one_, store));
  return {};
}

Result<std::string> GpuExecutable::try_one_dispatch(OneDispatch& one, const PreparedStore& store) {
  const bool is_wanted = options_.gpu.one_dispatch == OneDispatchUse::kOn;
  const auto trial = tern::gpu::try_one_dispatch(*device_, plan_, store.program(), *work_, one, options_.max_batch);
  if (!trial) {
    if (trial.error().code == ErrorCode::kDeviceLost) return std::unexpected(trial.error());
    return trial.error().message;
  }
  if (trial->workgroups == 0) return trial->why_not;
  if (!is_wanted && trial->times.empty()) return "the GPU does not tell what takes how long";
  const auto from = is_wanted ? one.fewest_rows() : trial->faster_from();
  if (!from) return "it is not faster on this GPU";
  TRY_STATUS(one.reset(OneDispatch::Patience::kUsual));
  one.use(trial->workgroups, *from);
  return std::string();
}

Result<void> GpuExecutable::expect(int n_sequences) {
  if (!one_ || !one_->is_used() || only_in_steps_) return {};
  std::vector<std::unique_ptr<OneDispatch>> made;
  for (; n_tried_ < kRowsInOne.size() && n_sequences >= kRowsInOne[n_tried_].fewest; ++n_tried_) {
    const auto [fewest, most] = kRowsInOne[n_tried_];
    if (most > std::min(options_.max_batch, max_logit_rows())) break;
    auto one = one_->for_rows(fewest, most);
    if (one) {
      made.push_back(*std::move(one));
    } else if (one.error().code == ErrorCode::kDeviceLost) {
      return std::unexpected(std::move(one).error());
    } else {
      say_rows_in_steps(one.error().message, fewest, most);
    }
  }
  return made.empty() ? Result<void>() : add_rows(std::move(made));
}

void GpuExecutable::say_rows_in_steps(const std::string& why, int fewest, int most) {
  why_rows_in_steps_ = why;
  if (options_.gpu.one_dispatch != OneDispatchUse::kOn) return;
  const std::string tokens = fewest == most ? std::to_string(most) : format_text("{} to {}", fewest, most);
  warn("{}; each step of {} tokens is a dispatch", why, tokens);
}

Result<void> GpuExecutable::compile_for_rows(const Program& program, std::span<OneDispatch* const> added) const {
  std::vector<Command> commands;
  for (const OneDispatch* one : added) {
    for (const int n : std::set{one->fewest_rows(), one->most_rows()}) {
      for (const uint32_t in_one : {0u, 1u}) {
        program.commands({.n_tokens = n, .n_logit_rows = n, .in_one = in_one}, commands);
      }
    }
  }
  return device_->prepare(commands);
}

Result<void> GpuExecutable::add_rows(std::vector<std::unique_ptr<OneDispatch>> made) {
  in_control_ = nullptr;
  work_->ropes().reserve(positions_of_trial(plan_.config, one_->shape()));
  std::vector<OneDispatch*> added;
  for (auto& one : made) {
    added.push_back(one.get());
    of_rows_.push_back(std::move(one));
  }
  ++n_ways_;
  const auto store = make_store(KvType::kF16, /*together=*/true);
  auto ready = store->reserve(blocks_of_trial(added.back()->shape().tokens)).and_then([&]() -> Result<void> {
    if (!store->all_layers().buffer) return fail(ErrorCode::kNotSupported, "{}", kKvTooLarge);
    return compile_for_rows(store->program(), added);
  });
  if (!ready && ready.error().code != ErrorCode::kDeviceLost && added.size() > 1) {
    // Testing each alone shows which of them failed.
    std::ranges::move(of_rows_ | std::views::drop(std::ssize(of_rows_) - std::ssize(added)), made.begin());
    of_rows_.resize(of_rows_.size() - added.size());
    for (auto& one : made) {
      std::vector<std::unique_ptr<OneDispatch>> alone;
      alone.push_back(std::move(one));
      TRY_STATUS(add_rows(std::move(alone)));
    }
    return {};
  }
  for (OneDispatch* one : added) {
    const auto why = ready.and_then([&] { return try_one_dispatch(*one, *store); });
    if (!why && why.error().code == ErrorCode::kDeviceLost) return std::unexpected(why.error());
    if (!one->is_used()) say_rows_in_steps(why ? *why : why.error().message, one->fewest_rows(), one->most_rows());
  }
  std::erase_if(of_rows_, [](const auto& one) { return !one->is_used(); });
  ++n_ways_;
  return {};
}

OneDispatch* GpuExecutable::one_for(int n_rows) const {
  if (n_rows == 1) return one_.get();
  const auto found = std::ranges::find_if(
      of_rows_, [&](const auto& one) { return n_rows >= one->fewest_rows() && n_rows <= one->most_rows(); });
  return found == of_rows_.end() ? nullptr : found->get();
}

RunShape GpuExecutable::in_best_way(RunShape shape, const PreparedStore& store) const {
  const OneDispatch* one = shape.one_each && !only_in_steps_ && !observer_ ? one_for(shape.n_tokens) : nullptr;
  if (observer_ || !finds_best(shape.n_logit_rows) || shape.n_best > kMostBestLogits) shape.n_best = 0;
  shape.in_one = one && store.all_layers().buffer && store.type() == KvType::kF16 ? one->workgroups(shape.n_tokens) : 0;
  return shape;
}

void GpuExecutable::leave_one_dispatch(OneDispatch& one) {
  if (!one.is_used()) return;
  one.leave();
  (&one == one_.get() ? why_in_steps_ : why_rows_in_steps_) = "workgroups have waited for each other in vain";
  warn("the GPU {} did not run all workgroups of a token at the same time; from here on each step is a dispatch",
       device_->adapter().name);
}

}  // namespace tern::gpu
