// Models with their logits, as the scripts in this folder wrote them, and comparisons of Tern's logits with them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tern/engine.h"

namespace tern::golden {

struct Golden {
  std::string name;
  std::string model_path;
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [tokens, vocab]
  double tolerance = 0;       // of a logit, if the manifest has one
  bool is_ternary = false;
  std::vector<float> llama_logits;  // llama.cpp's, if the manifest has their distance from `logits`
  double llama_nmse = 0;
  int n_ctx = 0;                 // context of the session; 0: the model's
  std::vector<float> predicted;  // logits [tokens − 1, vocab] of the layer that proposes draft tokens; or empty
  std::vector<float> vectors;    // [2, d_model] of the whole text: last-token pooling, then mean pooling; or empty
  bool has_directory = false;    // the same model is beside the file as a Hugging Face directory
};

// The entries of FOLDER/goldens.json, where FOLDER is one of tests/golden/.
std::vector<Golden> read_goldens(const std::string& folder);

struct Run {
  LoadOptions load;
  KvType kv_type = KvType::kF32;
};
std::vector<float> compute_logits(const Golden& golden, Run run);

void expect_close(const Golden& golden, const std::vector<float>& logits);
void expect_same_top1(const Golden& golden, const std::vector<float>& logits);
double nmse(const std::vector<float>& logits, const std::vector<float>& expected);

}  // namespace tern::golden
