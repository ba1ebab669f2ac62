// Steps that compute each value of a row by itself, or copy rows.
#pragma once

#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class ElementwiseRecorder {
 public:
  explicit ElementwiseRecorder(Recording& recording) : r_(recording) {}

  Result<void> record(const step::Embed& s);
  Result<void> record(const step::SelectRows& s);
  Result<void> record(const step::Hidden& s);
  Result<void> record(const step::GluMul& s);
  Result<void> record(const step::Add& s);
  Result<void> record(const step::AddBias& s);
  Result<void> record(const step::Softcap& s);
  Result<void> record(const step::QuantizeBlocks& s);

 private:
  Recording& r_;
};

}  // namespace tern::gpu
