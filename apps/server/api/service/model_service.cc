#include "server/api/service/model_service.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

// The stop string that ended the reply: the one that begins first.
std::string stop_string(const GenerateOptions& options, const GenerateResult& result, const Tokenizer& tokenizer) {
  if (options.stop.size() == 1) return options.stop.front();
  const std::string text = tokenizer.decode(result.tokens);
  const auto place = [&](const std::string& stop) { return text.find(stop); };
  return *std::ranges::min_element(options.stop, {}, place);
}

}  // namespace

RunningReplies::RunningReplies(std::vector<std::vector<TokenId>> prompts, std::span<const GenerateOptions> options,
                               ReplyMode manner)
    : manner_(manner) {
  for (std::vector<TokenId>& tokens : prompts) {
    for (const GenerateOptions& one : options) replies_.push_back({.prompt = prompts_.size(), .options = one});
    prompts_.push_back({.tokens = std::move(tokens)});
  }
}

void RunningReplies::put(ReplyEvent news) {
  const bool wakes = manner_.each_step || news.is_over();
  {
    const std::scoped_lock lock(mutex_);
    news_.push_back(std::move(news));
  }
  if (wakes) changed_.notify_one();
}

std::deque<ReplyEvent> RunningReplies::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return !news_.empty() && (manner_.each_step || news_.back().is_over()); });
  return std::exchange(news_, {});
}

Result<std::unique_ptr<ModelService>> ModelService::start(const Engine& engine, const Options& options) {
  Options complete = options;
  if (complete.scheduler.n_ctx == 0) complete.scheduler.n_ctx = engine.info().n_ctx;
  auto scheduler = engine.new_scheduler(complete.scheduler);
  if (!scheduler) return std::unexpected(scheduler.error());
  std::unique_ptr<ModelService> service(new ModelService(engine, *std::move(scheduler), complete));
  TRY(service->thread_,
      start_thread("replies", [self = service.get()](const std::stop_token& stop) { self->run(stop); }));
  return service;
}

ModelService::ModelService(const Engine& engine, Scheduler scheduler, const Options& options)
    : engine_(engine),
      options_(options),
      scheduler_(std::move(scheduler)),
      slots_(options.scheduler.max_replies),
      energy_(options.energy) {}

ModelService::~ModelService() = default;

ApiResult<void> ModelService::ask(const std::shared_ptr<RunningReplies>& replies) {
  const std::scoped_lock lock(mutex_);
  if (is_draining_) return std::unexpected(shutting_down());
  const int n = static_cast<int>(replies->size()), n_places = options_.scheduler.max_replies;
  const int most = options_.max_waiting + n_places;  // free places count, too, because that many replies begin at once
  if (!replies->manner_.in_background && n > most) {
    return refuse(format_text("the request asks for {} replies at once, and this server takes at most {}", n, most));
  }
  const int n_there = load_.status.n_running + load_.status.n_waiting + load_.n_asked;
  if (replies->manner_.in_background) {
    if (n_there > 0 && n_there + n > n_places - n_places / 4) {
      return std::unexpected(ApiError{.status = 429, .message = "others are being answered", .code = "queue_full"});
    }
    load_.n_in_background += n;
  } else if (n_there - load_.n_in_background + n > most) {
    const std::string message = format_text("{} replies wait already, of at most {}; try again later",
                                            load_.status.n_waiting + load_.n_asked, options_.max_waiting);
    return std::unexpected(ApiError{.status = 429, .message = message, .code = "queue_full", .retry_after_seconds = 1});
  }
  inbox_.asked.push_back(replies);
  load_.n_asked += n;
  is_idle_ = false;
  changed_.notify_all();
  return {};
}

void ModelService::cancel(const std::shared_ptr<RunningReplies>& replies) {
  const std::scoped_lock lock(mutex_);
  inbox_.cancelled.push_back(replies);
  changed_.notify_all();
}

ApiResult<void> ModelService::between_steps(const Task& errand) {
  std::unique_lock lock(mutex_);
  if (is_draining_) return std::unexpected(shutting_down());
  bool is_done = false;
  inbox_.errands.push_back({.errand = &errand, .is_done = &is_done});
  is_idle_ = false;
  changed_.notify_all();
  changed_.wait(lock, [&] { return is_done; });
  return {};
}

// The callers are waiting, so what the errands refer to still exists.
void ModelService::run_errands() {
  std::unique_lock lock(mutex_);
  const std::vector<PendingErrand> errands = std::exchange(inbox_.errands, {});
  lock.unlock();
  for (const PendingErrand& one : errands) (*one.errand)(scheduler_, slots_);
  if (errands.empty()) return;
  refresh_status();
  lock.lock();
  for (const PendingErrand& one : errands) *one.is_done = true;
  changed_.notify_all();
}

bool ModelService::drain(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  is_draining_ = true;
  return changed_.wait_for(lock, most, [&] { return is_idle_; });
}

bool ModelService::is_draining() const {
  const std::scoped_lock lock(mutex_);
  return is_draining_;
}

ModelService::Status ModelService::status() const {
  const std::scoped_lock lock(mutex_);
  Status status = load_.status;
  status.n_waiting += load_.n_asked;
  return status;
}

void ModelService::tell(const std::shared_ptr<RunningReplies>& replies, size_t index,
                        const Result<GenerationStep>& step, const GenerateResult& so_far) {
  RunningReplies::Reply& reply = replies->replies_[index];
  ReplyEvent news{.index = index, .stats = so_far.stats};
  if (step) {
    news.text = step->text;
    news.token = step->token;
    news.finish = step->finish;
    if (news.finish == FinishReason::kStopString) news.stop = stop_string(reply.options, so_far, engine_.tokenizer());
    for (; reply.n_told < so_far.logprobs.size(); ++reply.n_told) {
      news.logprobs.push_back(so_far.logprobs[reply.n_told]);
    }
    if ((news.token || news.finish) && !std::exchange(reply.is_begun, true)) {
      news.prompt_logprobs = so_far.prompt_logprobs;
    }
  } else {
    news.error = step.error();
  }
  if (news.token && options_.observer) {
    const Clock::time_point now = Clock::now(), last = std::exchange(reply.last, now);
    if (last == Clock::time_point()) {
      options_.observer->on_first_token(seconds_between(replies->asked_, now));
    } else {
      options_.observer->on_token(seconds_between(last, now));
    }
  }
  reply.is_over = news.is_over();
  if (reply.is_over && options_.keeps_slots && !replies->manner_.in_background) {
    std::vector<TokenId> tokens = replies->prompts_[reply.prompt].tokens;
    tokens.insert(tokens.end(), so_far.tokens.begin(), so_far.tokens.end());
    slots_.note(replies->manner_.slot, std::move(tokens));
  }
  replies->prompts_[reply.prompt].is_read = true;
  news_.push_back({.of = replies, .news = std::move(news)});
}

// Delivers the news of a step. Its replies share its energy.
void ModelService::deliver_events(double joules) {
  const auto n_ended =
      std::ranges::count_if(news_, [](const News& one) { return one.news.is_over() && one.of->manner_.in_background; });
  if (n_ended > 0) {
    const std::scoped_lock lock(mutex_);
    load_.n_in_background -= static_cast<int>(n_ended);
  }
  const double share = news_.empty() ? 0 : joules / static_cast<double>(news_.size());
  for (News& one : news_) {
    RunningReplies::Reply& reply = one.of->replies_[one.news.index];
    one.news.joules = reply.joules += share;
    if (one.news.is_over() && options_.observer) options_.observer->on_end(one.news);
    one.of->put(std::move(one.news));
  }
  news_.clear();
}

void ModelService::begin(const std::shared_ptr<RunningReplies>& replies, size_t index) {
  RunningReplies::Reply& reply = replies->replies_[index];
  const auto id =
      scheduler_.submit(replies->prompts_[reply.prompt].tokens, reply.options,
                        [this, replies, index](const Result<GenerationStep>& step, const GenerateResult& so_far) {
                          tell(replies, index, step, so_far);
                        });
  if (id) {
    reply.id = *id;
  } else {
    tell(replies, index, std::unexpected(id.error()), {});
  }
}

// Begins the first reply to each prompt, and the others once the first has read the prompt.
void ModelService::admit() {
  std::erase_if(to_begin_.replies, [&](const std::shared_ptr<RunningReplies>& replies) {
    bool all_have_begun = true;
    for (size_t i = 0; i < replies->size(); ++i) {
      RunningReplies::Reply& reply = replies->replies_[i];
      if (reply.id > 0 || reply.is_over) continue;
      const bool is_first = i == 0 || replies->replies_[i - 1].prompt != reply.prompt;
      if (is_first || replies->prompts_[reply.prompt].is_read) {
        begin(replies, i);
      } else {
        all_have_begun = false;
      }
    }
    return all_have_begun;
  });
}

void ModelService::end_cancelled(const std::shared_ptr<RunningReplies>& replies) {
  for (size_t i = 0; i < replies->size(); ++i) {
    const RunningReplies::Reply& reply = replies->replies_[i];
    if (reply.is_over) continue;
    if (reply.id > 0) {
      scheduler_.cancel(reply.id);
    } else {
      tell(replies, i, GenerationStep{.text = {}, .finish = FinishReason::kCancelled}, {});
    }
  }
}

// From here on the status includes the replies taken since the last refresh.
void ModelService::refresh_status() {
  int n_to_begin = 0;
  for (const auto& replies : to_begin_.replies) {
    n_to_begin += static_cast<int>(std::ranges::count_if(
        replies->replies_, [](const RunningReplies::Reply& reply) { return reply.id == 0 && !reply.is_over; }));
  }
  const std::scoped_lock lock(mutex_);
  load_.status = {.n_running = scheduler_.n_running(),
                  .n_waiting = scheduler_.n_waiting() + n_to_begin,
                  .scheduler = scheduler_.stats()};
  load_.n_asked -= std::exchange(to_begin_.n_uncounted, 0);
}

void ModelService::run(const std::stop_token& stop) {
  bool is_busy = false;
  refresh_status();
  std::vector<std::shared_ptr<RunningReplies>> cancelled;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!is_busy && to_begin_.replies.empty() && inbox_.asked.empty() && inbox_.errands.empty()) {
        is_idle_ = true;
        changed_.notify_all();
        changed_.wait(lock, stop, [&] { return !inbox_.is_empty(); });
      }
      std::ranges::move(inbox_.asked, std::back_inserter(to_begin_.replies));
      inbox_.asked.clear();
      to_begin_.n_uncounted = load_.n_asked;
      cancelled.swap(inbox_.cancelled);
    }
    run_errands();
    for (const auto& replies : cancelled) end_cancelled(replies);
    cancelled.clear();
    admit();
    const auto start = Clock::now();
    if (!is_busy) energy_.begin();
    is_busy = scheduler_.step();
    const double joules = energy_.take(/*goes_on=*/is_busy);
    if (options_.observer) {
      options_.observer->on_step(seconds_between(start, Clock::now()), scheduler_.n_running(), joules);
    }
    refresh_status();
    deliver_events(joules);  // last, so that a client with an answer finds everything else up to date
  }
}

}  // namespace tern::server
