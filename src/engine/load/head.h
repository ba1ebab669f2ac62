// The format of the LM head: LoadOptions::head.
#pragma once

#include <optional>
#include <string>

#include "backend/backend.h"
#include "backend/repack.h"
#include "base/result.h"
#include "model/model.h"
#include "tern/options.h"

namespace tern {

class Head {
 public:
  // Replaces the model's head by one in the format of `kind`, if the file's is different. The model then points into
  // this object. kNotSupported.
  Result<void> replace_in(Model& model, HeadKind kind);

  // "F16", "Q8_0 (file: F16)".
  std::string describe(const Model& model) const;

 private:
  Tensor in_file_;
  std::optional<Repacked> replaced_;
};

// How a backend computes the head. kNotSupported: it cannot do that.
Result<ExactHead> exact_head_for(BackendKind backend, HeadKind kind);

}  // namespace tern
