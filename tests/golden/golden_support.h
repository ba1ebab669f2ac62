// Models with their logits, as the scripts beside this wrote them, and how ours are compared with them.
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
  double tolerance = 0;       // of a logit, where the manifest has one
  bool is_ternary = false;
  std::vector<float> llama_logits;  // by llama.cpp, where the manifest says how far they are from `logits`
  double llama_nmse = 0;
  int n_ctx = 0;               // room of the session; 0: the model's
  std::vector<float> vectors;  // [2, d_model], of the whole text: by its last token, and by their mean; or empty
  bool has_directory = false;  // the same model as a Hugging Face directory lies beside the file
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
