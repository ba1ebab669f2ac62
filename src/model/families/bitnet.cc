#include <utility>

#include "model/families/family.h"

namespace tern {
namespace {

// Every linear layer's input width must be whole I2_S blocks.
Result<void> check_blocks(const ModelSource& source, const Config& c) {
  for (const auto& [what, width] : {std::pair{"embedding_length", c.d_model},
                                    {"feed_forward_length", c.d_ff},
                                    {"attention.head_count × head_dim", c.q_width()}}) {
    if (width % 128 == 0) continue;
    return fail(ErrorCode::kNotSupported,
                "{}: {} is {}, not a multiple of 128, so its ternary rows are not whole blocks", source.path(), what,
                width);
  }
  return {};
}

// 1bitLLM's models (bitnet_b1_58-large, -3B) and Microsoft's share the architecture's names, not the activation. Where
// a file does not say, the vocabulary does: Llama 2's 32,002 tokens against Llama 3's.
bool is_of_1bitllm(const Config& c) {
  constexpr int k1bitLlmVocab = 32002;
  return c.architecture == "bitnet" && c.n_vocab == k1bitLlmVocab;
}

}  // namespace

Result<void> finish_bitnet(ModelSource& source, Config& c) {
  TRY(const auto act, source.get_string(c.architecture + ".feed_forward.activation"));
  if (!act && is_of_1bitllm(c)) c.glu_act = GluAct::kSilu;
  return check_blocks(source, c);
}

}  // namespace tern
