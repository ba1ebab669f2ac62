// A session core on a scripted backend, for tests.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <string_view>

#include "backend/fake/fake_backend.h"
#include "engine/session_core.h"

namespace tern::engine_test {

inline constexpr int kVocab = 128;
inline constexpr TokenId kStop = 0;

// Token i is the ASCII character i; 0 stops.
class AsciiTokenizer final : public Tokenizer {
 public:
  AsciiTokenizer() : characters_(kVocab, '\0') { std::iota(characters_.begin(), characters_.end(), '\0'); }
  int vocab_size() const override { return kVocab; }
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions&) const override {
    return {text.begin(), text.end()};
  }
  std::string_view piece(TokenId id, bool) const override {
    return id == kStop ? std::string_view() : std::string_view(&characters_[static_cast<size_t>(id)], 1);
  }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return stops_; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }

 private:
  std::string characters_;
  std::vector<TokenId> stops_ = {kStop};
};

inline std::vector<TokenId> ids(std::string_view text) { return {text.begin(), text.end()}; }

// A model that continues "ab" with `reply` (then stop tokens), in a context of n_ctx tokens.
struct Fixture {
  // `row`: cost of a further row in a pass, relative to the first.
  explicit Fixture(std::string_view reply, int n_ctx = 64, fake::Script script = {}, double row = 0.2) {
    script.n_vocab = kVocab;
    script.next = ids("?" + std::string(reply));
    script.next.push_back(kStop);
    executable = fake::make_executable(std::move(script), log);
    core = std::make_unique<SessionCore>(Sequence::alone(*executable, n_ctx, KvType::kF16).value(), &tokenizer, kVocab,
                                         SampleOptions{}, PassTimes::fixed(row));
  }
  Result<GenerateResult> generate(std::string_view prompt, GenerateOptions options = {}, std::stop_token stop = {}) {
    options.sample.temperature = 0;
    return core->generate(ids(prompt), options, [&](std::string_view text) { shown += text; }, stop);
  }
  std::unique_ptr<Generation::Impl> begin(std::string_view prompt, GenerateOptions options = {}) {
    options.sample.temperature = 0;
    return core->begin(ids(prompt), options).value();
  }
  fake::Log log;
  AsciiTokenizer tokenizer;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<SessionCore> core;
  std::string shown;
};

}  // namespace tern::engine_test
