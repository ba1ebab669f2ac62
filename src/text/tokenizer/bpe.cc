#include "text/tokenizer/bpe.h"

#include "text/tokenizer/bpe_encoder.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"

namespace tern {
namespace {

class BpeTokenizer final : public TableTokenizer {
 public:
  explicit BpeTokenizer(std::unique_ptr<const BpeModel> model) : TableTokenizer(*model), model_(std::move(model)) {}

  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 4 + 1);  // English averages 4 to 5 bytes a token
    if (options.add_bos && model_->add_bos && model_->bos) ids.push_back(*model_->bos);
    BpeEncoder(*model_, text.size()).encode(text, {options.parse_special, options.quoted}, ids);
    return ids;
  }

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
