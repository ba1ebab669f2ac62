#include "text/tokenizer/bpe.h"

#include "text/tokenizer/bpe_encoder.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"

namespace tern {
namespace {

class BpeTokenizer final : public Tokenizer {
 public:
  explicit BpeTokenizer(std::unique_ptr<const BpeModel> model) : model_(std::move(model)) {}

  int vocab_size() const override { return static_cast<int>(model_->tokens.size()); }

  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 4 + 1);  // English averages 4 to 5 bytes a token
    if (options.add_bos && model_->add_bos && model_->bos) ids.push_back(*model_->bos);
    BpeEncoder(*model_, text.size()).encode(text, options.parse_special, ids);
    return ids;
  }

  std::string_view piece(TokenId id, bool special) const override {
    if (id < 0 || id >= vocab_size()) return {};
    if (model_->is_control[static_cast<size_t>(id)] && !special) return {};
    return model_->tokens.bytes(id);
  }

  std::optional<TokenId> bos() const override { return model_->bos; }

  std::optional<TokenId> final_token() const override { return model_->final_token; }

  const std::vector<TokenId>& stop_tokens() const override { return model_->stop_tokens; }

  std::optional<TokenId> find(std::string_view token) const override {
    if (const auto other = model_->other_tokens.find(token); other != model_->other_tokens.end()) return other->second;
    std::string bytes;
    if (!append_bytes_of(token, bytes)) return std::nullopt;
    const TokenId id = model_->tokens.find(bytes);
    return id == kNoToken ? std::nullopt : std::optional(id);
  }

 private:
  std::unique_ptr<const BpeModel> model_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_bpe_tokenizer(const Vocab& vocab) {
  TRY(std::unique_ptr<const BpeModel> model, build_bpe_model(vocab));
  return std::make_unique<BpeTokenizer>(std::move(model));
}

}  // namespace tern
