#include "engine/reply/thoughts.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace tern {
namespace {

// How many bytes of a UTF-8 character follow its first byte.
int n_following(unsigned char first) { return first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0; }

class ThoughtConstraint final : public TokenConstraint {
 public:
  ThoughtConstraint(const ThoughtLimit& limit, const Tokenizer& tokenizer, int n_vocab,
                    std::unique_ptr<TokenConstraint> inner, bool waits)
      : n_left_(limit.tokens < 0 ? std::numeric_limits<int>::max() : limit.tokens),
        n_vocab_(n_vocab),
        tokenizer_(tokenizer),
        end_(tokenizer.encode(limit.forced.empty() ? limit.end : limit.forced,
                              {.add_bos = false, .parse_special = true})),
        tracker_(limit),
        inner_waits_(waits && tracker_.is_inside()),
        inner_(std::move(inner)) {
    end_if_spent();
  }

  bool is_active() const override { return !forced_.empty() || inner_is_active(); }

  Result<GrammarMatcher::Allowed> allowed() const override {
    if (forced_.empty()) return inner_->allowed();
    auto mask = std::make_shared<grammar::TokenMask>((static_cast<size_t>(n_vocab_) + 63) / 64);
    grammar::put_in(*mask, forced_.front());
    return GrammarMatcher::Allowed{.tokens = std::move(mask), .end = false, .any = true};
  }

  bool accept(TokenId token) override {
    if (!forced_.empty() && token != forced_.front()) return false;
    if (inner_ && !inner_waits_ && !inner_->accept(token)) return false;
    const bool is_forced = !forced_.empty();
    if (is_forced) forced_.pop_front();
    if (tracker_.feed(tokenizer_.piece(token, /*special=*/true)) && !is_forced) --n_left_;
    if (!tracker_.is_inside()) inner_waits_ = false;
    if (forced_.empty()) {
      end_if_spent();
    } else if (!may_force(forced_.front())) {
      forced_.clear();
      n_left_ = std::numeric_limits<int>::max();  // a second try would end the same way
    }
    return true;
  }

  bool is_complete() const override { return forced_.empty() && !inner_waits_ && inner_ && inner_->is_complete(); }

 private:
  bool inner_is_active() const { return inner_ && !inner_waits_ && inner_->is_active(); }

  void end_if_spent() {
    if (n_left_ > 0 || !tracker_.is_inside() || !tracker_.is_between_characters() || end_.empty()) return;
    if (may_force(end_.front())) forced_.assign(end_.begin(), end_.end());
  }

  bool may_force(TokenId token) const {
    if (!inner_is_active()) return true;
    const auto allowed = inner_->allowed();
    return allowed && allowed->any && grammar::is_in(*allowed->tokens, token);
  }

  int n_left_;
  const int n_vocab_;
  const Tokenizer& tokenizer_;
  const std::vector<TokenId> end_;
  ThoughtTracker tracker_;
  bool inner_waits_;
  const std::unique_ptr<TokenConstraint> inner_;
  std::deque<TokenId> forced_;
};

}  // namespace

bool ThoughtTracker::feed(std::string_view piece) {
  bool belongs = is_inside_;
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    n_missing_ = byte >= 0x80 && byte < 0xC0 ? std::max(n_missing_ - 1, 0) : n_following(byte);
  }
  if (begin_.empty() && !is_inside_) return false;
  tail_ += piece;
  for (bool found = true; found;) {
    const std::string& mark = is_inside_ ? end_ : begin_;
    const size_t at = mark.empty() ? std::string::npos : tail_.find(mark);
    found = at != std::string::npos;
    if (!found) break;
    tail_.erase(0, at + mark.size());
    is_inside_ = !is_inside_;
    belongs = true;
  }
  const size_t most = std::max(begin_.size(), end_.size());
  if (tail_.size() > most) tail_.erase(0, tail_.size() - most);
  return belongs;
}

std::unique_ptr<TokenConstraint> limit_thoughts(const ThoughtLimit& limit, const Tokenizer& tokenizer, int n_vocab,
                                                std::unique_ptr<TokenConstraint> inner, bool waits) {
  return std::make_unique<ThoughtConstraint>(limit, tokenizer, n_vocab, std::move(inner), waits);
}

}  // namespace tern
