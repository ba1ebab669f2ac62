// Divides a model's layers between the CPU and a GPU whose memory does not hold all of them.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "base/result.h"
#include "engine/load/backends.h"
#include "model/model.h"

namespace tern {

struct LayerSplit {
  int n_on_gpu = 0;         // the last layers, with the head: 1 to n_layers − 1
  std::string reason = {};  // one line
};

// The division with n_on_gpu layers on the GPU, or fewer where the model can only be parted earlier. kNotSupported: the
// layers depend on each other by more than the residual stream.
Result<LayerSplit> split_with(const Config& config, int n_on_gpu);

// The division with as many layers on the GPU, the one that compile_on() would take, as its memory holds together with
// a conversation. kNotFound: there is no such GPU, or it does not tell its memory. kOutOfMemory: it holds too few
// layers to make a difference. kInvalidArgument: it holds all. kNotSupported: as above.
Result<LayerSplit> split_by_memory(const Model& model, const CompileOptions& compile);
Result<LayerSplit> split_by_memory(const Model& model, const FoundGpu& gpu, const CompileOptions& compile);

// Joins the executables of both parts, the CPU's with the first layers and the GPU's with the others.
std::unique_ptr<Executable> join_split(std::array<std::unique_ptr<Executable>, 2> parts);

}  // namespace tern
