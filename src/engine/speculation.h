// Guessing the next tokens, so that one pass over the model checks several: the text is the same, and comes faster
// where guesses are right.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/sequence.h"

namespace tern {

// Guesses, and how much speaks for them: guess i is of the kind evidence + i, or the last kind there is. How often
// guesses of a kind are right is measured.
struct Draft {
  static constexpr size_t kKinds = 16;
  static size_t kind(size_t evidence) { return evidence < kKinds ? evidence : kKinds - 1; }

  std::span<const TokenId> tokens = {};
  size_t evidence = 0;
};

// Guesses how a text goes on.
class Drafter {
 public:
  virtual ~Drafter() = default;
  // At most `most` tokens that may come after `known`; none where it has no idea. Valid until the next call. The text
  // of a later call is an earlier one's with more at its end.
  virtual Draft draft(std::span<const TokenId> known, size_t most) = 0;
  // Whether a draft costs nothing beside a pass: then there is one for each token, also where none will be checked.
  virtual bool is_free() const = 0;
  // How often guesses of a kind are right, before any has been checked.
  virtual double expected(size_t kind) const = 0;
};

// What came the last time after the text's last few tokens: the more of them have come before, the better. What agreed
// so far is followed, past a token that is another one, too; where it no longer agrees, the longest match is looked
// for.
class LookupDrafter final : public Drafter {
 public:
  // The evidence is the length of the match, in tokens; 0: the last token was another one, and those before agreed.
  Draft draft(std::span<const TokenId> known, size_t most) override;
  bool is_free() const override { return true; }
  double expected(size_t kind) const override;
  void forget();  // the next text is another one

 private:
  static constexpr size_t kShortest = 2, kMany = 4, kLongest = Draft::kKinds;  // tokens that agree
  static constexpr size_t kBuckets = size_t{1} << 12;
  static constexpr int kLooks = 64;  // at places that may match, the latest first

  void follow(std::span<const TokenId> known);
  void index(std::span<const TokenId> known);
  void look_for(std::span<const TokenId> known, size_t shortest);

  // Places with two tokens before them, by a hash of these: the latest, and for each the one before it. 0: none.
  std::vector<uint32_t> latest_, earlier_;
  std::vector<TokenId> tokens_;
  size_t n_known_ = 0;            // of the text of the last call
  size_t from_ = 0, length_ = 0;  // where the text that agrees goes on, and how long it has agreed
  bool follows_ = false;          // whether there is such a place
};

// What a smaller model with the same tokenizer would write. The evidence is the place in the draft.
class ModelDrafter final : public Drafter {
 public:
  explicit ModelDrafter(std::unique_ptr<Sequence> sequence) : sequence_(std::move(sequence)) {}
  Draft draft(std::span<const TokenId> known, size_t most) override;
  bool is_free() const override { return false; }
  double expected(size_t /*kind*/) const override { return 0.7; }

 private:
  std::unique_ptr<Sequence> sequence_;
  std::vector<TokenId> tokens_;
};

// How long passes over the model take, by their rows: one_ · (1 + slope_ · (rows − 1)). What they are is measured, all
// the time, and shared by all who run the model.
class PassTimes {
 public:
  PassTimes() = default;
  // For tests: whatever passes take, further rows are known to take this part of the first.
  static std::shared_ptr<PassTimes> fixed(double slope);

  void add(size_t rows, double seconds);
  bool is_known() const { return one_ > 0; }
  // With so many rows, times as long as with one.
  double relative(double rows) const { return 1 + slope_ * (rows - 1); }
  double one() const { return one_; }  // seconds

 private:
  // Small passes read the weights once; a further row costs its arithmetic.
  static constexpr double kUsualSlope = 0.2;

  bool is_fixed_ = false;
  double one_ = 0, slope_ = kUsualSlope;
  double n_compared_ = 0;  // passes with other numbers of rows that slope_ comes from
  size_t last_rows_ = 0;
  double last_seconds_ = 0;
};

// A pass as far as it is planned: what is expected of it, and the room that is left.
struct PassPlan {
  size_t rows = 1;         // this reply's own, that is certain, included
  double tokens = 1;       // that are expected to come of them
  size_t most_tokens = 1;  // that a slice may still have, this reply's own included
  size_t most_guesses = 0;
};

// How many guesses to check, by what passes take and how often guesses are right: as many as make the most tokens in
// the least time, or none.
class SpeculationPace {
 public:
  SpeculationPace(size_t most, const Drafter& drafter, const PassTimes& times);

  // How many guesses to ask the drafter for.
  size_t n_wanted(const PassPlan& plan);
  // How many of the draft to check in a pass; adds them to it.
  size_t n_worth(const Draft& draft, PassPlan& plan) const;
  // Which tokens came instead of a draft, or as it said, checked or not.
  void add(const Draft& draft, std::span<const TokenId> chosen);
  // How long a draft took that is not free.
  void add_draft(size_t n_tokens, double seconds);

 private:
  static constexpr double kWorth = 1.08;      // times as fast, at least
  static constexpr double kSlowestRate = 32;  // tokens of a kind that count, about
  static constexpr int kShortestPause = 8;    // passes; doubled while guessing brings nothing
  static constexpr int kLongestPause = 512;
  static constexpr size_t kProbe = 2;  // guesses, to see whether they are right by now

  struct Choice {
    size_t n = 0;
    double tokens = 0;  // that are expected beside the pass's others
  };
  Choice best(size_t evidence, size_t most, const PassPlan& plan) const;

  size_t most_;
  bool is_free_;
  const PassTimes& times_;
  std::array<double, Draft::kKinds> right_, n_seen_ = {};
  double draft_seconds_ = 0;  // for a guess
  int pause_ = 0, next_pause_ = kShortestPause;
};

}  // namespace tern
