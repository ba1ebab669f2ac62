#include "engine/reply/generation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "engine/reply/prompt_healing.h"
#include "engine/reply/thoughts.h"
#include "sample/logprobs.h"
#include "sample/sampling.h"

namespace tern {
namespace {

PieceOf pieces_of(const Tokenizer* tokenizer) {
  if (!tokenizer) return {};
  return [tokenizer](TokenId token) { return tokenizer->piece(token, /*special=*/true); };
}

}  // namespace

Generation::Impl::Impl(Sequence& sequence, Impl*& active, const Tokenizer* tokenizer, int n_vocab,
                       std::span<const TokenId> prompt, const GenerateOptions& options, const Shared& shared)
    : sequence_(sequence),
      active_(&active),
      options_(options),
      tokenizer_(tokenizer),
      drafting_(static_cast<size_t>(options.speculate), shared.drafter, shared.times),
      sampler_(sampling_of(options_.sample), n_vocab, options_.logit_bias, pieces_of(tokenizer)),
      reply_(tokenizer, options_, prompt.back()) {
  active = this;
  if (tokenizer && !options.ignore_eos) sampler_.forbid_before(options.min_tokens, tokenizer->stop_tokens());
  constraint_ = make_constraint(options, shared.grammars, tokenizer, n_vocab, reply_.strips_space());
  const bool holds_the_answer = options.grammar && options.thoughts.in_thought;
  if ((options.thoughts.tokens >= 0 || holds_the_answer) && !options.thoughts.end.empty() && tokenizer) {
    constraint_ = limit_thoughts(options.thoughts, *tokenizer, n_vocab, std::move(constraint_), holds_the_answer);
  }
  const bool heals = options.heal_prompt && options.max_tokens != 0 && !constraint_ && options.n_prompt_logprobs < 0;
  const size_t n_healed = heals ? n_to_heal(prompt, tokenizer) : 0;
  const auto n_ctx = static_cast<size_t>(sequence_.n_ctx());
  tokens_.reserve(n_ctx + 1);
  tokens_.assign(prompt.begin(), prompt.end() - static_cast<ptrdiff_t>(n_healed));
  to_heal_.assign(prompt.end() - static_cast<ptrdiff_t>(n_healed), prompt.end());
  for (const TokenId token : tokens_) sampler_.accept_prompt(token);
  sequence_.reserve();
  reply_.result.stats.n_prompt = static_cast<int>(prompt.size());
  if (scores_prompt()) {
    sequence_.clear();
  } else {
    reply_.result.stats.n_reused = static_cast<int>(sequence_.keep_common(tokens_));
  }
  reply_.result.tokens.reserve(n_ctx);
  if (to_heal_.empty()) take_reply_so_far();
}

// Each of these tokens used random numbers. So the next token gets those that it would have had without the
// interruption.
void Generation::Impl::take_reply_so_far() {
  for (const TokenId token : options_.reply_so_far) {
    if (end_.reason) break;
    for (int i = 0; i < sampler_.n_draws(); ++i) sampler_.uniform();
    sampler_.accept(token);
    tokens_.push_back(token);
    if (constraint_ && !constraint_->accept(token)) {
      end_.failure = Error{ErrorCode::kInvalidArgument, "reply_so_far is not the beginning of a text of the grammar"};
      return;
    }
    end_.reason = reason_to_end(token);
  }
  reply_.untold_text();  // the caller already has this text
}

Result<GenerationStep> Generation::Impl::next() {
  if (end_.error) return std::unexpected(*end_.error);
  std::optional<TokenId> token;
  if (!done()) {
    if (!has_event()) {
      if (auto ran = run_alone(); !ran) end_.failure = std::move(ran).error();
    }
    if (n_unreported_ == 0 && end_.failure) {
      end_.error = sequence_.explained(std::move(*end_.failure));
      end_.failure.reset();
      reply_.flush();
      detach();
      return std::unexpected(*end_.error);
    }
    if (end_.reason) {
      end(*end_.reason);
    } else {
      if (n_unreported_ > 0) token = tokens_[tokens_.size() - n_unreported_--];
      if (const auto reason = reason_to_end(token)) end(*reason);
    }
  }
  GenerationStep step{.text = reply_.untold_text(), .token = token, .finish = {}};
  if (done()) step.finish = result().reason;
  return step;
}

Result<void> Generation::Impl::run_alone() {
  if (stream_.own && is_constrained()) drop_stream();
  const bool may_start = !stream_.is_asked_for && !is_constrained() && is_decoding();
  if (may_start && prefers_stream()) TRY_STATUS(start_stream());
  if (stream_.own) return take_from_stream();
  const Executable& executable = sequence_.executable();
  const int most = executable.max_batch();
  PassPlan plan{.most_tokens = static_cast<size_t>(most),
                .most_drafts = static_cast<size_t>(std::min(most, executable.max_logit_rows()) - 1)};
  auto slice_or = next_slice(plan);
  if (!slice_or && slice_or.error().code == ErrorCode::kOutOfMemory && plan.most_drafts > 0) {
    plan.most_drafts = 0;
    slice_or = next_slice(plan);
  }
  TRY(const Slice slice, std::move(slice_or));
  const auto start = std::chrono::steady_clock::now();
  TRY(const auto rows, sequence_.run({&slice, 1}));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (drafting_.is_in_pass()) drafting_.add_time(elapsed.count());
  if (options_.speculate > 0 && drafting_.uses_hidden()) observe(slice, executable.hidden());
  return take(rows);
}

Result<Slice> Generation::Impl::next_slice(PassPlan& plan) {
  if (stream_.own) drop_stream();  // it would miss the tokens that run here
  if (may_speculate()) return slice_with_drafts(plan);
  drafting_.skip_pass();
  n_again_ = 0;
  const auto rest = std::span(tokens_).subspan(static_cast<size_t>(sequence_.n_used()));
  running_ = rest.first(std::min(sequence_.n_to_snapshot(rest.size()), plan.most_tokens));
  const bool is_last = running_.size() == rest.size();
  if (scores_prompt()) {
    running_ = running_.first(std::min(running_.size(), plan.most_drafts + 1));
    plan.most_drafts -= running_.size() - 1;
    return sequence_.extend(running_, WantLogits::kAll);
  }
  return sequence_.extend(running_, is_last ? WantLogits::kLast : WantLogits::kNone, n_best());
}

Result<void> Generation::Impl::take(std::span<const float> rows) {
  if (drafting_.is_in_pass()) return take_drafts(rows);
  const bool is_last = running_.size() == n_pending();
  if (scores_prompt()) {
    TRY_STATUS(sequence_.check_logits(rows, static_cast<int>(running_.size()), running_));
    rows = score_prompt(rows);
  } else if (is_last) {
    TRY_STATUS(sequence_.check_logits(rows, 1, running_));
  }
  sequence_.add(running_);
  if (!is_last) return {};
  if (!to_heal_.empty()) {
    heal(rows);
  } else if (options_.max_tokens != 0) {
    return choose(rows);
  }
  return {};
}

// Each row is about the token behind it. Rows that are run again, after the sequence has lost them, count once. Returns
// the last row.
std::span<const float> Generation::Impl::score_prompt(std::span<const float> rows) {
  const size_t width = rows.size() / running_.size(), first = tokens_.size() - n_pending() + 1;
  std::vector<Logprobs>& scores = reply_.result.prompt_logprobs;
  for (size_t i = 0; i < running_.size(); ++i) {
    const size_t place = first + i;  // of the token that the row is about
    if (place != scores.size() + 1 || place >= n_to_score()) continue;
    scores.push_back(log_probabilities(rows.subspan(i * width, width), tokens_[place], options_.n_prompt_logprobs));
  }
  return rows.last(width);
}

void Generation::Impl::heal(std::span<const float> logits) {
  const TokenId healed = choose_healed(logits, to_heal_, *tokenizer_, sampling_of(options_.sample));
  sampler_.accept_prompt(healed);
  tokens_.push_back(healed);
  if (healed == to_heal_.front() && to_heal_.size() > 1) {
    to_heal_.erase(to_heal_.begin());
    return;
  }
  reply_.heal(tokenizer_->piece(healed).substr(spelling(to_heal_, *tokenizer_).size()));
  to_heal_.clear();
  if (!options_.reply_so_far.empty()) take_reply_so_far();
}

// Chooses the next token by `logits`.
Result<void> Generation::Impl::choose(std::span<const float> logits) {
  TokenId next = 0;
  if (constraint_ && constraint_->changes_logits()) {
    changed_logits_.assign(logits.begin(), logits.end());
    TRY_STATUS(constraint_->change_logits(changed_logits_));
    logits = changed_logits_;
  }
  if (constraint_ && constraint_->is_active()) {
    TRY(next, choose_among_allowed(logits));
    if (next < 0) return {};
  } else {
    next = sampler_.sample(logits);
    if (constraint_) constraint_->accept(next);
  }
  sampler_.accept(next);
  if (options_.n_logprobs >= 0) {
    reply_.result.logprobs.push_back(log_probabilities(logits, next, options_.n_logprobs));
  }
  tokens_.push_back(next);
  ++n_unreported_;
  return {};
}

// Returns -1 if the text is complete and the vocabulary has no token to continue it; then the reply is over.
Result<TokenId> Generation::Impl::choose_among_allowed(std::span<const float> logits) {
  TRY(const GrammarMatcher::Allowed allowed, constraint_->allowed());
  if (!allowed.any) {
    if (allowed.end) return end_.reason = FinishReason::kStopToken, -1;
    return fail(ErrorCode::kNotSupported, "the vocabulary has no token that the grammar allows after the reply so far");
  }
  allowed_ = *allowed.tokens;
  if (allowed.end && !options_.ignore_eos) {
    for (const TokenId stop : tokenizer_->stop_tokens()) {
      if (std::cmp_less(stop, logits.size())) grammar::put_in(allowed_, stop);
    }
  }
  const TokenId next = sampler_.sample(logits, allowed_);
  if (!grammar::is_in(allowed_, next)) {
    return fail(ErrorCode::kInvalidArgument,
                "the logit biases forbid every token that the grammar allows after the reply so far");
  }
  const bool is_stop = allowed.end && !grammar::is_in(*allowed.tokens, next);
  if (!is_stop) CHECK(constraint_->accept(next));
  return next;
}

int Generation::Impl::n_best(int n_ahead) {
  const bool all_matter = !to_heal_.empty() || options_.n_logprobs >= 0 || is_constrained();
  return all_matter ? 0 : sampler_.n_best(n_ahead);
}

bool Generation::Impl::may_stream() const {
  return !has_event() && is_decoding() && device_may_choose() && sequence_.executable().decodes() && prefers_stream();
}

int Generation::Impl::n_may_stream() const {
  int n_left = sequence_.n_ctx() - sequence_.n_used();
  if (may_speculate()) n_left = std::min(n_left, drafting_.n_rest());
  if (const int n = sampler_.n_forbidding(); n > 0) n_left = std::min(n_left, n);  // the rest may need no changes
  if (options_.max_tokens < 0) return n_left;
  return std::min(n_left, options_.max_tokens - static_cast<int>(result().tokens.size()));
}

DeviceSampling Generation::Impl::device_sampling() {
  const Sampling& sample = sampler_.options();
  DeviceSampling sampling{
      .temperature = sample.temperature,
      .top_k = sample.top_k,
      .top_p = sample.top_p,
      .min_p = sample.min_p,
      .top_n_sigma = sample.top_n_sigma,
      .typical_p = sample.typical_p,
      .xtc_probability = sample.xtc_probability,
      .xtc_threshold = sample.xtc_threshold,
      .uniform =
          [this] {
            ++stream_.n_draws_ahead;
            return sampler_.uniform();
          },
  };
  if (sampler_.changes_logits()) {
    sampling.changes = [this](std::vector<LogitChange>& changes) { sampler_.list_changes(changes); };
    sampling.n_best = [this] { return n_best(1); };
  }
  return sampling;
}

Result<void> Generation::Impl::start_stream() {
  if (!device_may_choose()) return {};
  stream_.is_asked_for = true;
  stream_.n_left = std::min(n_may_stream(), kStreamTokens);
  TRY(stream_.own, sequence_.decode(tokens_.back(), stream_.n_left, device_sampling()));
  return {};
}

Result<void> Generation::Impl::take_from_stream() {
  const auto start = std::chrono::steady_clock::now();
  const auto next = stream_.own->next();
  if (!next) {
    sequence_.lose_state();
    return std::unexpected(next.error());
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (drafting_.uses_hidden()) drafting_.add_stream_time(elapsed.count());
  take_streamed((*next)[0]);
  if (--stream_.n_left == 0) drop_stream();  // the next step starts another one if needed
  return {};
}

bool Generation::Impl::may_be_chosen() const {
  return device_may_choose() && !sampler_.changes_logits() && !drafting_.is_in_pass() && !scores_prompt() &&
         to_heal_.empty() && options_.max_tokens != 0;
}

Result<void> Generation::Impl::take_chosen(std::optional<TokenId> token, std::span<const float> logits) {
  if (!logits.empty()) TRY_STATUS(sequence_.check_logits(logits, 1, running_));
  sequence_.add(running_);
  if (token) add_chosen(*token);
  return {};
}

void Generation::Impl::take_streamed(TokenId token) {
  sequence_.add(last_known(), true);
  drafting_.add_streamed();
  add_chosen(token);
}

void Generation::Impl::add_chosen(TokenId token) {
  sampler_.accept(token);
  if (constraint_) constraint_->accept(token);
  tokens_.push_back(token);
  ++n_unreported_;
  stream_.n_draws_ahead -= std::min(stream_.n_draws_ahead, static_cast<uint64_t>(sampler_.n_draws()));
}

void Generation::Impl::take_back_draws() {
  sampler_.rewind(stream_.n_draws_ahead);
  stream_.n_draws_ahead = 0;
}

void Generation::Impl::leave_stream() {
  take_back_draws();
  if (!done()) sequence_.release_rest();
}

void Generation::Impl::drop_stream() {
  stream_.own.reset();
  stream_.is_asked_for = false;
  take_back_draws();
}

std::optional<FinishReason> Generation::Impl::reason_to_end(std::optional<TokenId> token) {
  if (!token) {
    const bool has_read = n_pending() == 0;  // without choosing a token: max_tokens is 0
    return has_read ? std::optional(FinishReason::kMaxTokens) : std::nullopt;
  }
  auto reason = reply_.add(*token);
  // A complete text ends the reply at once, even if max_tokens is reached with the same token.
  if (constraint_ && n_unreported_ == 0 && constraint_->is_complete() &&
      (!reason || reason == FinishReason::kMaxTokens)) {
    reason = FinishReason::kStopToken;
  }
  const size_t n_before = tokens_.size() - n_unreported_ - 1;
  if (reason || std::cmp_less(n_before, sequence_.n_ctx())) return reason;
  if (options_.keep_past_context < 0) return FinishReason::kContextFull;
  shift_context();
  return std::nullopt;
}

// The kept tokens are read again from the start, as a text of their own. So the result is correct for any kind of
// position encoding.
void Generation::Impl::shift_context() {
  const auto n_keep = static_cast<size_t>(options_.keep_past_context);
  const size_t n_later = std::max<size_t>((tokens_.size() - n_keep) / 2, 1);
  tokens_.erase(tokens_.begin() + static_cast<ptrdiff_t>(n_keep), tokens_.end() - static_cast<ptrdiff_t>(n_later));
  sequence_.keep_common(tokens_);
  n_again_ = 0;
  drafting_.forget();
  drop_stream();
}

void Generation::Impl::cancel() {
  if (!done()) end(FinishReason::kCancelled);
}

void Generation::Impl::end(FinishReason reason) {
  const size_t n_kept = tokens_.size() - n_unreported_ - 1;  // without draft tokens beyond the end
  if (n_unreported_ > 0 && std::cmp_less(n_kept, sequence_.n_used())) sequence_.truncate(n_kept);
  reply_.finish(reason);
  detach();
}

void Generation::Impl::detach() {
  if (done()) return;
  stream_.own.reset();
  *active_ = nullptr;
  active_ = nullptr;
}

// ---- the public interface

Generation::Generation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;
Generation::~Generation() = default;

Result<GenerationStep> Generation::next() { return impl_->next(); }
void Generation::cancel() { impl_->cancel(); }
bool Generation::done() const { return impl_->done(); }
const GenerateResult& Generation::result() const { return impl_->result(); }

}  // namespace tern
