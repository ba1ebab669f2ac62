// What the logits are computed from: LoadOptions::head.
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
  // Gives `model` a head in the format that `kind` asks for, where the file's is another. The model keeps pointing into
  // this object. kNotSupported.
  Result<void> replace_in(Model& model, HeadKind kind);

  // "F16", "Q8_0 (file: F16)".
  std::string describe(const Model& model) const;

 private:
  Tensor in_file_;
  std::optional<Repacked> replaced_;
};

// How a backend is to compute it. kNotSupported where it cannot.
Result<ExactHead> exact_head_for(BackendKind backend, HeadKind kind);

}  // namespace tern
