#include "backend/gpu/record/megakernel/path.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

constexpr std::string_view kKvTooLarge = "keys and values of all layers are more than the GPU binds at once";

std::unique_ptr<LayerPath> steps_because(std::string why) { return std::make_unique<LayerPath>(std::move(why)); }

}  // namespace

Result<std::unique_ptr<LayerPath>> plan_layer_path(const LayerPathContext& c) {
  const MegakernelUse use = c.options.gpu.megakernel;
  if (use == MegakernelUse::kOff || c.layouts.serial) {
    return steps_because(use == MegakernelUse::kOn ? "software drivers run kernels of their own" : "");
  }
  if (use == MegakernelUse::kAuto && c.device.adapter().type == AdapterType::kSoftware) return steps_because("");
  auto found = megakernel_layers(c.device, c.plan, c.layouts.int8_x);
  if (!found) return steps_because(std::move(found).error().message);
  if (const auto kept = c.weights.keep_together(found->matrices); !kept) {
    if (kept.error().code != ErrorCode::kOutOfMemory) return std::unexpected(kept.error());
    return steps_because(kept.error().message);  // they may fit in pieces
  }
  return std::make_unique<MegakernelPath>(c, *std::move(found));
}

// Errors are ignored here; they show when the kernel is used, and the steps are its fallback.
void MegakernelPath::begin_compiling() {
  if (const auto pipeline = Megakernel::pipeline(c_.kernels, layers_)) std::ignore = c_.device.begin(**pipeline);
}

Result<void> MegakernelPath::prepare(WorkBuffers& work) {
  work_ = &work;
  auto one = Megakernel::create(c_.device, c_.kernels, c_.weights, std::move(layers_));
  if (one) {
    one_ = *std::move(one);
  } else if (one.error().code == ErrorCode::kOutOfMemory) {
    refusal_ = one.error().message;
  } else {
    return std::unexpected(std::move(one).error());
  }
  return {};
}

int MegakernelPath::trial_positions() const { return one_ ? positions_of_trial(c_.plan.config, one_->shape()) : 0; }

Result<void> MegakernelPath::try_out(const PreparedStore& store) {
  if (!one_) return {};
  one_->leave();
  refusal_.clear();
  if (is_stepwise_) return {};
  if (!store.all_layers().buffer) {
    refusal_ = kKvTooLarge;
    return {};
  }
  TRY(refusal_, try_out(*one_, store));
  return {};
}

Result<std::string> MegakernelPath::try_out(Megakernel& one, const PreparedStore& store) {
  const bool is_wanted = c_.options.gpu.megakernel == MegakernelUse::kOn;
  const auto trial = try_megakernel(c_.device, c_.plan, store.program(), *work_, one, c_.options.max_batch);
  if (!trial) {
    if (trial.error().code == ErrorCode::kDeviceLost) return std::unexpected(trial.error());
    return trial.error().message;
  }
  if (trial->workgroups == 0) return trial->why_not;
  if (!is_wanted && trial->times.empty()) return "the GPU reports no times, so it is not known to be faster";
  const auto from = is_wanted ? one.fewest_rows() : trial->faster_from();
  if (!from) return "it is not faster on this GPU";
  TRY_STATUS(one.reset(Megakernel::SpinLimit::kDefault));
  one.use(trial->workgroups, *from);
  return std::string();
}

Result<bool> MegakernelPath::expect(int n_sequences) {
  if (!is_used()) return false;
  std::vector<std::unique_ptr<Megakernel>> made;
  for (; n_tried_ < kMegakernelRows.size() && n_sequences >= kMegakernelRows[n_tried_].fewest; ++n_tried_) {
    const auto [fewest, most] = kMegakernelRows[n_tried_];
    if (most > std::min(c_.options.max_batch, c_.options.max_logit_rows)) break;
    auto one = one_->for_rows(fewest, most);
    if (one) {
      made.push_back(*std::move(one));
    } else if (one.error().code == ErrorCode::kDeviceLost) {
      return std::unexpected(std::move(one).error());
    } else {
      refuse_rows(one.error().message, fewest, most);
    }
  }
  if (made.empty()) return false;
  TRY_STATUS(add_rows(std::move(made)));
  return true;
}

void MegakernelPath::refuse_rows(const std::string& why, int fewest, int most) {
  row_refusal_ = why;
  if (c_.options.gpu.megakernel != MegakernelUse::kOn) return;
  const std::string tokens = fewest == most ? std::to_string(most) : format_text("{} to {}", fewest, most);
  warn("{}; each step of {} tokens is a dispatch", why, tokens);
}

Result<void> MegakernelPath::compile_for_rows(const Program& program, std::span<Megakernel* const> added) const {
  std::vector<Command> commands;
  for (const Megakernel* one : added) {
    for (const int n : std::set{one->fewest_rows(), one->most_rows()}) {
      for (const uint32_t workgroups : {0u, 1u}) {
        program.commands({.n_tokens = n, .n_logit_rows = n, .megakernel_workgroups = workgroups}, commands);
      }
    }
  }
  return c_.device.prepare(commands);
}

Result<void> MegakernelPath::add_rows(std::vector<std::unique_ptr<Megakernel>> made) {
  work_->ropes().reserve(trial_positions());
  std::vector<Megakernel*> added;
  for (auto& one : made) {
    added.push_back(one.get());
    rows_.push_back(std::move(one));
  }
  ++version_;
  const auto store = c_.make_store(KvType::kF16, /*together=*/true);
  auto ready = store->reserve(blocks_of_trial(added.back()->shape().tokens)).and_then([&]() -> Result<void> {
    if (!store->all_layers().buffer) return fail(ErrorCode::kNotSupported, "{}", kKvTooLarge);
    return compile_for_rows(store->program(), added);
  });
  if (!ready && ready.error().code != ErrorCode::kDeviceLost && added.size() > 1) {
    // Testing each alone shows which of them failed.
    std::ranges::move(rows_ | std::views::drop(std::ssize(rows_) - std::ssize(added)), made.begin());
    rows_.resize(rows_.size() - added.size());
    for (auto& one : made) {
      std::vector<std::unique_ptr<Megakernel>> alone;
      alone.push_back(std::move(one));
      TRY_STATUS(add_rows(std::move(alone)));
    }
    return {};
  }
  for (Megakernel* one : added) {
    const auto why = ready.and_then([&] { return try_out(*one, *store); });
    if (!why && why.error().code == ErrorCode::kDeviceLost) return std::unexpected(why.error());
    if (!one->is_used()) refuse_rows(why ? *why : why.error().message, one->fewest_rows(), one->most_rows());
  }
  std::erase_if(rows_, [](const auto& one) { return !one->is_used(); });
  ++version_;
  return {};
}

Megakernel* MegakernelPath::find(int n_rows) const {
  if (n_rows == 1) return one_.get();
  const auto found = std::ranges::find_if(
      rows_, [&](const auto& one) { return n_rows >= one->fewest_rows() && n_rows <= one->most_rows(); });
  return found == rows_.end() ? nullptr : found->get();
}

uint32_t MegakernelPath::workgroups(int n_rows) const {
  const Megakernel* one = is_stepwise_ ? nullptr : find(n_rows);
  return one ? one->workgroups(n_rows) : 0;
}

bool MegakernelPath::covers(int step, const GpuKvStore& store) const {
  return one_ && store.all_layers().buffer && store.type() == KvType::kF16 && step >= first_step_ && step < end_step_;
}

Result<void> MegakernelPath::record(const BufferView& angles, const GpuKvStore& store, Program& program) const {
  const auto add = [&](const Megakernel& one, const When& when) -> Result<void> {
    const BufferView params{&work_->params(), 0, 0};
    TRY(auto recorded, one.record(work_->view(one.x()), angles, params, store, when));
    recorded.step = first_step_;
    recorded.path = DispatchPath::kMegakernel;
    program.add(std::move(recorded));
    return {};
  };
  TRY_STATUS(add(*one_, {.max_tokens = 1}));
  for (const auto& one : rows_) {
    const When when{.min_tokens = one->fewest_rows(), .max_tokens = one->most_rows(), .slices = Slices::kDecodeBatch};
    TRY_STATUS(add(*one, when));
  }
  return {};
}

Result<void> MegakernelPath::ready(const RunShape& shape) {
  if (shape.megakernel_workgroups == 0) return {};
  return find(shape.n_tokens)->ready(shape.megakernel_workgroups, shape.n_tokens, shape.n_pos);
}

void MegakernelPath::disable(int n_rows) {
  Megakernel& one = *find(n_rows);
  if (!one.is_used()) return;
  one.leave();
  (&one == one_.get() ? refusal_ : row_refusal_) = "workgroups waited too long for each other";
  warn("the GPU {} did not run all workgroups of a token at the same time; from here on each step is a dispatch",
       c_.device.adapter().name);
}

}  // namespace tern::gpu
