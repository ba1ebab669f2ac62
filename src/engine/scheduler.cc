#include "engine/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "engine/reply/request_checks.h"
#include "sample/sampling.h"

namespace tern {

Scheduler::Impl::Impl(const Model& model, std::shared_ptr<KvBlocks> blocks, PrefixId root,
                      const SchedulerOptions& options)
    : model_(model),
      blocks_(std::move(blocks)),
      root_(root),
      options_(options),
      most_tokens_(model.executable.max_batch()) {
  if (!model_.times) model_.times = std::make_shared<PassTimes>();
  if (!model_.now) {
    model_.now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
  }
  if (!model_.grammars) model_.grammars = std::make_shared<GrammarCache>();
  if (options.max_batch_tokens > 0) most_tokens_ = std::min(most_tokens_, options.max_batch_tokens);
  // Replies that do not fit into a pass would hold memory while they wait for the end of others.
  const Executable& executable = model.executable;
  const int most_together = std::min(executable.max_slices(), executable.max_logit_rows());
  most_running_ = executable.max_slices() == 1 ? options.max_replies : std::min(options.max_replies, most_together);
}

Result<Scheduler::ReplyId> Scheduler::Impl::submit(std::span<const TokenId> prompt, const GenerateOptions& options,
                                                   OnStep on_step) {
  TRY(auto complete, check_request(prompt, options, model_.tokenizer, model_.n_vocab, options_.n_ctx, model_.advised));
  auto request = std::make_unique<Request>();
  request->id = next_id_++;
  request->prompt.assign(prompt.begin(), prompt.end());
  request->options = std::move(complete);
  request->on_step = std::move(on_step);
  request->submitted = model_.now();
  waiting_.push_back(std::move(request));
  return waiting_.back()->id;
}

void Scheduler::Impl::cancel(ReplyId reply) {
  for (const Requests* requests : {&running_, &waiting_}) {
    for (const auto& request : *requests) {
      if (request->id == reply) request->is_cancelled = true;
    }
  }
}

void Scheduler::Impl::end_cancelled() {
  for (const Requests* requests : {&running_, &waiting_}) {
    for (const auto& request : *requests) {
      if (!request->is_cancelled || request->is_over) continue;
      if (!request->generation) begin(*request);
      request->generation->cancel();
      tell(*request);
    }
  }
}

void Scheduler::Impl::begin(Request& request) {
  request.sequence = std::make_unique<Sequence>(model_.executable, blocks_, options_.n_ctx, root_);
  if (model_.new_drafter && request.options.speculate > 0) request.drafter = model_.new_drafter();
  request.generation = std::make_unique<Generation::Impl>(
      *request.sequence, request.active, model_.tokenizer, model_.n_vocab, request.prompt, request.options,
      Generation::Impl::Shared{.times = *model_.times, .grammars = *model_.grammars, .drafter = request.drafter.get()});
}

void Scheduler::Impl::admit() {
  while (!waiting_.empty() && n_running() < most_running_) {
    auto request = std::move(waiting_.front());
    waiting_.pop_front();
    if (!request->generation) {
      begin(*request);
      stats_.tokens_reused += static_cast<uint64_t>(request->generation->result().stats.n_reused);
      tell(*request);
      if (request->is_over) continue;  // e.g. with max_tokens = 0
    }
    running_.push_back(std::move(request));
  }
}

bool Scheduler::Impl::has_room(const Pass& pass, const Request& request) const {
  const auto again = static_cast<int>(request.generation->n_again());
  return pass.n_tokens + again < most_tokens_ && pass.n_rows + again < model_.executable.max_logit_rows() &&
         std::ssize(pass.slices) < model_.executable.max_slices();
}

// Decoding replies come first, with one token each and their draft tokens, so that they do not wait for prompts. The
// rest of the pass is for prompts: half of it for the earliest prompt, and the other half for the others, shortest
// first. So a short question does not wait for a long document, and the long document is not starved.
Scheduler::Impl::Pass Scheduler::Impl::plan_pass() {
  Pass pass;
  std::vector<Request*> in_order;
  for (const auto& request : running_) in_order.push_back(request.get());
  const auto is_decoding = [](const Request* r) { return r->generation->n_new() == 1; };
  const auto prefilling = std::ranges::stable_partition(in_order, is_decoding);
  pass.n_prefilling = static_cast<int>(prefilling.size());
  pass.n_decoding = static_cast<int>(in_order.size()) - pass.n_prefilling;
  const int most = most_prompt_tokens(pass.n_decoding > 0);
  const auto add = [&](Request* request) {
    // The request may already be in the pass, or may have been preempted for an earlier one.
    const bool is_running = std::ranges::any_of(running_, [&](const auto& r) { return r.get() == request; });
    if (is_running && has_room(pass, *request) && !std::ranges::contains(pass.requests, request))
      add_to(pass, *request);
  };
  for (Request* request : std::ranges::subrange(in_order.begin(), prefilling.begin())) {
    --pass.n_decoding;
    add(request);
  }
  if (prefilling.empty()) return pass;
  std::vector<Request*> others(prefilling.begin() + 1, prefilling.end());
  std::ranges::stable_sort(others, {}, [](const Request* r) { return r->generation->n_pending(); });
  const auto add_others = [&](int most_tokens) {
    pass.most_prompt_tokens = most_tokens;
    for (Request* request : others) {
      if (pass.n_prompt_tokens < most_tokens) add(request);
    }
  };
  add_others(most / 2);
  pass.most_prompt_tokens = most;
  add(prefilling.front());
  add_others(most);  // if the earliest needs less
  return pass;
}

// Draft tokens must leave room for one token of each reply, and for the first token and half of the tokens of a prompt.
PassPlan Scheduler::Impl::plan_slice(const Pass& pass, bool drafts, bool is_prompt) const {
  const int tokens = most_tokens_ - pass.n_tokens, rows = model_.executable.max_logit_rows() - pass.n_rows;
  const int others = 1 + pass.n_decoding + std::min(pass.n_prefilling, 1);
  const int most = std::min(pass.n_prefilling > 0 ? tokens / 2 : tokens, rows) - others;
  const int rest = std::max(pass.most_prompt_tokens - pass.n_prompt_tokens, 1);
  return {.rows = pass.n_decode_rows + 1,
          .tokens = pass.expected + 1,
          .most_tokens = static_cast<size_t>(is_prompt ? std::min(tokens, rest) : tokens),
          .most_drafts = drafts ? static_cast<size_t>(std::max(most, 0)) : 0};
}

void Scheduler::Impl::add_to(Pass& pass, Request& request) {
  const bool is_prompt = request.generation->n_new() > 1;
  for (bool drafts = request.generation->wants_rows();;) {
    PassPlan plan = plan_slice(pass, drafts, is_prompt);
    auto slice = request.generation->next_slice(plan);
    if (slice) {
      const auto n = static_cast<int>(slice->tokens.size());
      pass.n_tokens += n;
      if (is_prompt) pass.n_prompt_tokens += n;
      pass.n_rows += slice->n_logit_rows();
      pass.slices.push_back(*slice);
      pass.requests.push_back(&request);
      pass.n_decode_rows = plan.rows;
      pass.expected = plan.tokens;
      return;
    }
    if (slice.error().code == ErrorCode::kOutOfMemory) {
      if (std::exchange(drafts, false)) continue;  // retry without drafts: they must not preempt other replies
      if (make_room_for(request, pass)) continue;
      if (!pass.requests.empty()) return;  // wait: the replies in the pass will end and free memory
    }
    request.generation->fail_with(std::move(slice).error());
    tell(request);
    return;
  }
}

// Preempts the latest request that is not in the pass: takes its blocks.
bool Scheduler::Impl::make_room_for(const Request& request, const Pass& pass) {
  for (auto last = running_.end(); last != running_.begin();) {
    --last;
    Request& other = **last;
    if (&other == &request) return false;  // there is no later request
    if (other.is_over || other.sequence->blocks().empty() || std::ranges::contains(pass.requests, &other)) continue;
    other.sequence->clear();
    if (other.drafter) other.drafter->release();
    ++stats_.preemptions;
    waiting_.push_front(std::move(*last));
    running_.erase(last);
    return true;
  }
  return false;
}

void Scheduler::Impl::count(const Pass& pass, double seconds) {
  learn_from(pass, seconds);
  ++stats_.steps;
  stats_.tokens_run += static_cast<uint64_t>(pass.n_tokens);
}

void Scheduler::Impl::run(const Pass& pass) {
  const double start = model_.now();
  const auto rows = model_.executable.run(blocks_->store(), pass.slices);
  if (rows) {
    count(pass, model_.now() - start);
    tell_drafters(pass);
  }
  size_t at = 0;
  const size_t width = rows && pass.n_rows > 0 ? rows->size() / static_cast<size_t>(pass.n_rows) : 0;
  for (size_t i = 0; i < pass.requests.size(); ++i) {
    Generation::Impl& generation = *pass.requests[i]->generation;
    if (!rows) {
      generation.fail_with(rows.error());
      continue;
    }
    const size_t n = static_cast<size_t>(pass.slices[i].n_logit_rows()) * width;
    if (auto taken = generation.take(rows->subspan(at, n)); !taken) generation.fail_with(std::move(taken).error());
    at += n;
  }
  for (Request* request : pass.requests) tell(*request);
}

// True if the current stream covers exactly the running replies.
bool Scheduler::Impl::is_streaming() const {
  const auto goes_on = [](const std::unique_ptr<Request>& request, const Request* streamed) {
    return request.get() == streamed && request->generation->may_stream();
  };
  return stream_ && std::ranges::equal(running_, streamed_, goes_on);
}

// Takes one token of each reply from the device; false if the host has to choose, or prompts are waiting.
bool Scheduler::Impl::run_stream() {
  if (!is_streaming() && !begin_stream()) return false;
  const std::vector<Request*> requests = streamed_;
  const double start = model_.now();
  const auto tokens = stream_->next();
  if (tokens && model_.new_drafter) model_.times->add(requests.size(), model_.now() - start);
  for (size_t i = 0; i < requests.size(); ++i) {
    Generation::Impl& generation = *requests[i]->generation;
    if (tokens) {
      generation.take_streamed((*tokens)[i]);
    } else {
      generation.fail_with(tokens.error());
    }
  }
  if (tokens) {
    ++stats_.steps;
    stats_.tokens_run += requests.size();
  }
  if (!tokens || --n_to_stream_ == 0) end_stream();
  for (Request* request : requests) tell(*request);
  return true;
}

bool Scheduler::Impl::begin_stream() {
  end_stream();
  const Executable& executable = model_.executable;
  if (!executable.decodes() || running_.empty() || n_running() > most_tokens_) return false;
  int n_steps = n_running() == 1 ? kStreamTokens : kStreamTokens / 2;
  std::vector<Request*> requests;
  std::vector<ReplyId> ids;
  for (const auto& request : running_) {
    if (!request->generation->may_stream()) return false;
    n_steps = std::min(n_steps, request->generation->n_may_stream());
    requests.push_back(request.get());
    ids.push_back(request->id);
  }
  if (ids == refused_) return false;
  for (; n_steps > 0; n_steps /= 2) {  // as many steps as memory allows
    if (begin_stream(requests, n_steps)) return true;
    for (const Request* request : requests) request->sequence->release_rest();
    if (ids == refused_) return false;
  }
  return false;
}

// False if memory is short or the device declines. Other errors are left to the next pass, which reports them.
bool Scheduler::Impl::begin_stream(std::span<Request* const> requests, int n_steps) {
  std::vector<Slice> starts;
  std::vector<DeviceSampling> sampling;
  for (Request* request : requests) {
    auto start = request->generation->start_of_stream(n_steps);
    if (!start) return false;
    starts.push_back(*start);
    sampling.push_back(request->generation->device_sampling());
  }
  auto stream = model_.executable.decode(blocks_->store(), starts, n_steps, sampling);
  if (!stream || !*stream) {
    refused_.clear();
    for (const Request* request : requests) refused_.push_back(request->id);
    return false;
  }
  stream_ = std::move(*stream);
  streamed_.assign(requests.begin(), requests.end());
  n_to_stream_ = n_steps;
  return true;
}

void Scheduler::Impl::end_stream() {
  if (!stream_) return;
  stream_.reset();
  for (Request* request : streamed_) request->generation->leave_stream();
  streamed_.clear();
}

// For backends that run one sequence at a time. Each reply has its own stream if the device chooses tokens.
void Scheduler::Impl::run_in_turns() {
  std::vector<Request*> requests;
  for (const auto& request : running_) requests.push_back(request.get());
  for (Request* request : requests) {
    if (request->is_over) continue;
    const size_t n_before = request->generation->n_pending();
    const auto step = request->generation->next();
    if (!step || step->token || step->finish || !step->text.empty()) {
      request->on_step(step, request->generation->result());
    }
    request->is_over = !step || step->finish;
    ++stats_.steps;
    stats_.tokens_run += std::min(n_before, static_cast<size_t>(most_tokens_));
  }
}

// Reports all new steps of a reply.
void Scheduler::Impl::tell(Request& request) {
  while (!request.is_over && request.generation->has_event()) {
    const auto step = request.generation->next();
    request.is_over = !step || step->finish;
    request.on_step(step, request.generation->result());
  }
}

void Scheduler::Impl::remove_those_over() {
  if (std::ranges::any_of(streamed_, &Request::is_over)) end_stream();
  std::erase_if(waiting_, [](const auto& request) { return request->is_over; });
  std::erase_if(running_, [](const auto& request) { return request->is_over; });
}

bool Scheduler::Impl::step() {
  end_cancelled();
  remove_those_over();
  admit();
  if (model_.executable.max_slices() == 1) {
    run_in_turns();
  } else if (!run_stream()) {
    draft();
    const Pass pass = plan_pass();
    if (!pass.slices.empty() && !run_and_choose(pass)) run(pass);
  }
  remove_those_over();
  return !running_.empty() || !waiting_.empty();
}

Scheduler::Stats Scheduler::Impl::stats() const {
  Stats stats = stats_;
  stats.kv_blocks_used = blocks_->stats().n_used;
  stats.kv_blocks_kept = blocks_->stats().n_kept;
  stats.kv_block_tokens = blocks_->block_tokens();
  stats.states_used = blocks_->stats().n_states;
  stats.snapshots = blocks_->stats().n_snapshots;
  stats.state_bytes = blocks_->state_bytes();
  stats.snapshot_hits = blocks_->stats().snapshot_hits;
  stats.shares = model_.executable.device_shares();
  return stats;
}

// ---- the public interface

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Result<Scheduler::ReplyId> Scheduler::submit(std::span<const TokenId> prompt, const GenerateOptions& options,
                                             OnStep on_step) {
  return impl_->submit(prompt, options, std::move(on_step));
}
void Scheduler::cancel(ReplyId reply) { impl_->cancel(reply); }
bool Scheduler::step() { return impl_->step(); }
int Scheduler::n_running() const { return impl_->n_running(); }
int Scheduler::n_waiting() const { return impl_->n_waiting(); }
Scheduler::Stats Scheduler::stats() const { return impl_->stats(); }

}  // namespace tern
