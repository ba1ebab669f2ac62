#include "model/families/family.h"

namespace tern {
namespace {

// 1bitLLM's models (bitnet_b1_58-large, -3B) share the architecture's names with Microsoft's, but not the activation.
// If a file does not say whose it is, the vocabulary does: Llama 2's 32,002 tokens or Llama 3's.
bool is_of_1bitllm(const Config& c) {
  constexpr int k1bitLlmVocab = 32002;
  return c.architecture == "bitnet" && c.n_vocab == k1bitLlmVocab;
}

}  // namespace

Result<void> finish_bitnet(ModelSource& source, Config& c) {
  TRY(const auto act, source.get_string(c.architecture + ".feed_forward.activation"));
  if (!act && is_of_1bitllm(c)) c.glu_act = GluAct::kSilu;
  return {};
}

}  // namespace tern
