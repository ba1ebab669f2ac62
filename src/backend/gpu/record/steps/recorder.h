// Turns the plan's steps into recorded dispatches: chooses kernels and their layouts, and binds buffers. The recorders
// of this folder each do it for some kinds of steps; Recorder passes each step to one of them.
//
// A step gets several dispatches, each for runs of another size (When): those of its phases (phases.h).
#pragma once

#include "backend/gpu/record/steps/attention_recorder.h"
#include "backend/gpu/record/steps/delta_recorder.h"
#include "backend/gpu/record/steps/elementwise_recorder.h"
#include "backend/gpu/record/steps/expert_recorder.h"
#include "backend/gpu/record/steps/float_recorder.h"
#include "backend/gpu/record/steps/heads_recorder.h"
#include "backend/gpu/record/steps/norm_recorder.h"
#include "backend/gpu/record/steps/qkv_recorder.h"
#include "backend/gpu/record/steps/recording.h"
#include "backend/gpu/record/steps/ternary_recorder.h"

namespace tern::gpu {

class Recorder {
 public:
  // The program binds `store`'s buffers, so it is valid as long as they are (GpuKvStore::version).
  Recorder(const RecorderContext& context, const GpuKvStore& store, Program& program)
      : recording_(context, store, program) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Result<void> record_all();

 private:
  // The recorder of each step.
  auto& recorder_of(const step::Embed&) { return elementwise_; }
  auto& recorder_of(const step::SelectRows&) { return elementwise_; }
  auto& recorder_of(const step::Hidden&) { return elementwise_; }
  auto& recorder_of(const step::GluMul&) { return elementwise_; }
  auto& recorder_of(const step::Add&) { return elementwise_; }
  auto& recorder_of(const step::AddBias&) { return elementwise_; }
  auto& recorder_of(const step::Softcap&) { return elementwise_; }
  auto& recorder_of(const step::QuantizeBlocks&) { return elementwise_; }
  auto& recorder_of(const step::RmsNorm&) { return norms_; }
  auto& recorder_of(const step::RmsNormAdd&) { return norms_; }
  auto& recorder_of(const step::HeadNorm&) { return norms_; }
  auto& recorder_of(const step::Quantize&) { return norms_; }
  auto& recorder_of(const step::RmsNormQuantize&) { return norms_; }
  auto& recorder_of(const step::Rope&) { return heads_; }
  auto& recorder_of(const step::KvAppend&) { return heads_; }
  auto& recorder_of(const step::Attention&) { return attention_; }
  auto& recorder_of(const step::TernaryLinear&) { return ternary_; }
  auto& recorder_of(const step::TernaryLinearAdd&) { return ternary_; }
  auto& recorder_of(const step::TernaryGlu&) { return ternary_; }
  auto& recorder_of(const step::TernaryQkv&) { return qkv_; }
  auto& recorder_of(const step::FloatLinear&) { return floats_; }
  auto& recorder_of(const step::FloatLinearAdd&) { return floats_; }
  auto& recorder_of(const step::FloatGlu&) { return floats_; }
  auto& recorder_of(const step::FloatQkv&) { return floats_; }
  auto& recorder_of(const step::FloatStack&) { return floats_; }
  auto& recorder_of(const step::SplitHeads&) { return delta_; }
  auto& recorder_of(const step::SigmoidMul&) { return delta_; }
  auto& recorder_of(const step::CausalConv&) { return delta_; }
  auto& recorder_of(const step::DeltaRule&) { return delta_; }
  auto& recorder_of(const step::GatedNorm&) { return delta_; }
  auto& recorder_of(const step::GatedDelta&) { return delta_; }
  auto& recorder_of(const step::Rotate&) { return delta_; }
  auto& recorder_of(const step::Route&) { return experts_; }
  auto& recorder_of(const step::ExpertGlu&) { return experts_; }
  auto& recorder_of(const step::ExpertLinear&) { return experts_; }
  auto& recorder_of(const step::MixExperts&) { return experts_; }
  auto& recorder_of(const step::MixExpertsAdd&) { return experts_; }

  Recording recording_;
  ElementwiseRecorder elementwise_{recording_};
  NormRecorder norms_{recording_};
  HeadsRecorder heads_{recording_};
  AttentionRecorder attention_{recording_, norms_, heads_};
  TernaryRecorder ternary_{recording_, norms_};
  QkvRecorder qkv_{recording_, norms_, heads_, ternary_};
  FloatRecorder floats_{recording_, norms_, heads_};
  DeltaRecorder delta_{recording_};
  ExpertRecorder experts_{recording_, norms_};
};

}  // namespace tern::gpu
