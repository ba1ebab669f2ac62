// Speculative decoding: one pass over the model checks several draft tokens. The text stays the same, and comes faster
// if drafts are right.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/kv/sequence.h"

namespace tern {

// Draft tokens and the evidence for them: draft token i is of the kind evidence + i, limited to the last kind. The
// acceptance rate is measured for each kind.
struct Draft {
  static constexpr size_t kKinds = 16;
  static size_t kind(size_t evidence) { return evidence < kKinds ? evidence : kKinds - 1; }
  // A drafter that reads more tokens than these before its first draft token catches up.
  static constexpr size_t kFewTokens = 16;

  std::span<const TokenId> tokens = {};
  size_t evidence = 0;
  bool catches_up = false;  // the drafter has read more of the text than usual, so its time does not count
};

// Proposes draft tokens.
class Drafter {
 public:
  virtual ~Drafter() = default;
  // Returns at most `most` tokens that may follow `known`, or none. Valid until the next call. `known` must extend that
  // of the call before.
  virtual Draft draft(std::span<const TokenId> known, size_t most) = 0;
  // Tells of a pass over the model: n_tokens from first_pos on, and their hidden rows if the plan keeps any
  // (Executable::hidden). The last of them may be draft tokens that were wrong.
  virtual void observe(size_t /*first_pos*/, size_t /*n_tokens*/, std::span<const float> /*hidden*/) {}
  // True if it needs hidden rows. Such drafts are worth their while on devices that choose tokens themselves, too.
  virtual bool uses_hidden() const { return false; }
  // Gives up memory; the text is read again from its beginning.
  virtual void release() {}
  // True if drafting costs nothing compared to a pass. Then every token gets a draft, even if it is not checked.
  virtual bool is_free() const = 0;
  // The assumed acceptance rate of a kind before any draft has been checked.
  virtual double expected(size_t kind) const = 0;
};

// Prompt lookup: drafts the tokens that followed the last occurrence of the text's last few tokens; longer matches are
// better evidence. It keeps following a match, even past one differing token, and searches for the longest match when
// they no longer agree.
class LookupDrafter final : public Drafter {
 public:
  // The evidence is the length of the match in tokens; 0: the last token differed, and those before it matched.
  Draft draft(std::span<const TokenId> known, size_t most) override;
  bool is_free() const override { return true; }
  double expected(size_t kind) const override;
  void forget();  // starts a new text

 private:
  static constexpr size_t kShortest = 2, kMany = 4, kLongest = Draft::kKinds;  // numbers of matching tokens
  static constexpr size_t kBuckets = size_t{1} << 12;
  static constexpr int kLooks = 64;  // the most candidate places to compare, the latest first

  void follow(std::span<const TokenId> known);
  void index(std::span<const TokenId> known);
  void look_for(std::span<const TokenId> known, size_t shortest);

  // Indexes places by a hash of the two tokens before them: the latest place, and for each place the previous one. 0:
  // none.
  std::vector<uint32_t> latest_, earlier_;
  std::vector<TokenId> tokens_;
  size_t n_known_ = 0;            // tokens of `known` in the last call
  size_t from_ = 0, length_ = 0;  // where the match continues, and its length
  bool follows_ = false;          // there is a match
};

// Drafts with a smaller model that has the same tokenizer. The evidence is the position in the draft.
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

// The duration of passes as a function of their rows: one_ · (1 + slope_ · (rows − 1)). Measured continuously, and
// shared by all sequences of the model.
class PassTimes {
 public:
  PassTimes() = default;
  // For tests: pass times have no effect; each further row costs `slope` of the first.
  static std::shared_ptr<PassTimes> fixed(double slope);

  void add(size_t rows, double seconds);
  bool is_known() const { return one_ > 0; }
  // The duration with this many rows, relative to one row.
  double relative(double rows) const { return 1 + slope_ * (rows - 1); }
  double one() const { return one_; }  // seconds

  // What all replies have found out about drafts that are not free, from which a new reply goes on: the duration for
  // each draft token, and the acceptance rate of each kind; `expected` before any.
  double draft_seconds() const { return draft_seconds_; }
  void add_draft(double seconds);
  bool knows_drafts() const { return n_seen_[0] > 0; }
  double right(size_t kind, double expected) const { return n_seen_[kind] > 0 ? right_[kind] : expected; }
  void add_right(size_t kind, bool is_right, double expected);

 private:
  // Small passes read the weights once; each further row costs only its arithmetic.
  static constexpr double kUsualSlope = 0.2;

  bool is_fixed_ = false;
  double one_ = 0, slope_ = kUsualSlope;
  double n_compared_ = 0;  // passes with differing numbers of rows behind slope_
  size_t last_rows_ = 0;
  double last_seconds_ = 0;
  double draft_seconds_ = 0;
  std::array<double, Draft::kKinds> right_ = {}, n_seen_ = {};
};

// A pass under construction: its expected result and the remaining room.
struct PassPlan {
  size_t rows = 1;         // including this reply's own row, which is certain
  double tokens = 1;       // tokens expected from these rows
  size_t most_tokens = 1;  // maximum tokens of the slice, including this reply's own
  size_t most_drafts = 0;  // maximum draft tokens of the slice
  size_t n_lost = 0;       // tokens of the slice that run again if a draft token is wrong, with the right ones; 0: none
  size_t n_alike = 1;      // replies that draft at the same time, this one included
};

// Chooses the number of draft tokens to check, from pass times and acceptance rates, so that tokens per second are
// highest; may be none.
class SpeculationPace {
 public:
  SpeculationPace(size_t most, const Drafter& drafter, PassTimes& times);

  // The number of draft tokens to request from the drafter.
  size_t n_wanted(const PassPlan& plan);
  // The number of draft tokens to check in a pass; adds them to the plan.
  size_t n_worth(const Draft& draft, PassPlan& plan) const;
  // True: drafts do not pay off, so the next n_rest() passes are to have none.
  bool rests() const { return rests_; }
  int n_rest() const { return pause_; }
  void rest(int n_passes) { pause_ -= n_passes; }
  // The drafter had nothing to say about what n_wanted() asked for: after a rest, it may not know the last hidden rows
  // before the next pass. So that is asked for once more.
  void had_no_draft();
  // Compares a draft with the tokens chosen in its place, whether it was checked or not.
  void add(const Draft& draft, std::span<const TokenId> chosen);

 private:
  static constexpr double kWorth = 1.08;      // minimum speedup
  static constexpr double kSlowestRate = 32;  // about the number of recent tokens of a kind that count
  static constexpr int kShortestPause = 8;    // passes; doubled while drafts do not pay off
  static constexpr int kLongestPause = 512;
  static constexpr size_t kProbe = 2;  // draft tokens of a probe, to see whether drafts are right by now

  struct Choice {
    size_t n = 0;
    double tokens = 0;  // expected in addition to the pass's other tokens
  };
  Choice best(size_t evidence, size_t most, const PassPlan& plan) const;

  size_t most_;
  bool is_free_;
  PassTimes& times_;
  // Per kind of draft token: the acceptance rate, and the number of tokens that it was measured on.
  std::array<double, Draft::kKinds> right_, expected_, n_seen_ = {};
  bool rests_ = false, asks_again_ = false;
  int pause_ = 0, next_pause_ = kShortestPause;
};

}  // namespace tern
