#include "backend/gpu/record/steps/recorder.h"

#include <utility>
#include <variant>

namespace tern::gpu {

Result<void> Recorder::record_all() {
  const RecorderContext& context = recording_.context();
  const LayerPath& layers = context.layer_path;
  for (int i = 0; const Step& step : context.plan.steps) {
    const bool is_covered = layers.covers(i, recording_.store());
    recording_.begin_step(i, is_covered ? DispatchPath::kSteps : DispatchPath::kAny);
    if (is_covered && i == layers.first_step()) {
      TRY(const auto angles, recording_.angles(layers.rope()));
      TRY_STATUS(layers.record(angles.view, recording_.store(), recording_.program()));
    }
    auto recorded = std::visit([this](const auto& s) { return recorder_of(s).record(s); }, step.body);
    if (!recorded) {
      Error error = std::move(recorded).error();
      error.message = step.name + ": " + error.message;
      return std::unexpected(std::move(error));
    }
    ++i;
  }
  return {};
}

}  // namespace tern::gpu
