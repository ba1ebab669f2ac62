// Serves one model to many clients at once: one thread steps the scheduler, and each reply's news waits in a queue for
// the client's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/service/energy_meter.h"
#include "server/api/service/slots.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern::server {

// The result of one step of a reply.
struct ReplyEvent {
  size_t index = 0;  // among the replies requested together
  std::string text = {};
  std::optional<TokenId> token = {};
  std::vector<Logprobs> logprobs = {};         // of the token, if requested
  std::vector<Logprobs> prompt_logprobs = {};  // with the first token or the end, if requested
  std::optional<FinishReason> finish = {};
  std::string stop = {};            // the stop string, if it ended the reply
  std::optional<Error> error = {};  // also ends the reply
  GenerateStats stats = {};         // so far
  double joules = 0;                // so far: its share of the energy of each step; 0 if not measured
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  bool is_over() const { return finish || error; }
};

// Running replies to one or more prompts. The scheduler's thread adds their news, one other thread takes it.
class RunningReplies {
 public:
  struct ReplyMode {
    bool each_step = false;      // otherwise waiting ends only when replies end
    bool in_background = false;  // no client waits for it; see ask()
    int slot = -1;               // the slot that records it; see Slots
  };
  // Each prompt gets one reply for each of the options. The replies to the first prompt come first.
  RunningReplies(std::vector<std::vector<TokenId>> prompts, std::span<const GenerateOptions> options, ReplyMode manner);

  size_t size() const { return replies_.size(); }
  std::chrono::steady_clock::time_point asked() const { return asked_; }
  // Waits up to `time` for news and returns all of it; empty if there is none.
  std::deque<ReplyEvent> wait_for(std::chrono::milliseconds time);

 private:
  friend class ModelService;
  using Clock = std::chrono::steady_clock;
  // Used by the scheduler's thread only.
  struct Reply {
    size_t prompt;
    GenerateOptions options;
    Scheduler::ReplyId id = 0;  // 0: not begun
    bool is_begun = false;      // it has a token, or has ended
    bool is_over = false;
    double joules = 0;
    size_t n_told = 0;            // log probabilities already reported
    Clock::time_point last = {};  // when its last token came
  };

  void put(ReplyEvent news);

  struct Prompt {
    std::vector<TokenId> tokens;
    bool is_read = false;  // by the first of its replies; the others share that work
  };
  const ReplyMode manner_;
  const Clock::time_point asked_ = Clock::now();
  std::vector<Prompt> prompts_;
  std::vector<Reply> replies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ReplyEvent> news_;
};

// Receives the server's measurements; times in seconds.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;
  // Time from the request to the first token; between two tokens; a reply's end; a pass over the model. Called on the
  // scheduler's thread.
  virtual void on_first_token(double seconds) = 0;
  virtual void on_token(double seconds) = 0;
  virtual void on_end(const ReplyEvent& last) = 0;
  // `joules`: this model's share of the machine's energy since the last step; 0 if not measured.
  virtual void on_step(double seconds, int n_running, double joules) = 0;
};

class ModelService {
 public:
  struct Options {
    SchedulerOptions scheduler = {};
    int max_waiting = 256;                // replies that are not running yet
    ServiceObserver* observer = nullptr;  // must outlive the service
    EnergyMeter* energy = nullptr;        // must outlive the service; null: energy is not measured
    bool keeps_slots = false;             // otherwise Slots stay empty
  };
  // The engine must outlive the service. Errors: those of Engine::new_scheduler().
  static Result<std::unique_ptr<ModelService>> start(const Engine& engine, const Options& options);
  ~ModelService();  // running replies end without further news

  const Engine& engine() const { return engine_; }
  bool measures_energy() const { return options_.energy != nullptr; }
  int n_ctx() const { return options_.scheduler.n_ctx; }  // context length of a reply, in tokens

  // 429 if too many replies wait, 503 while draining. If the engine refuses a reply, that is its first news. Background
  // replies take no place from others, which are admitted as if there were none. They get 429 unless there is room for
  // them now, beside a quarter of the places that is kept free.
  ApiResult<void> ask(const std::shared_ptr<RunningReplies>& replies);
  // The replies end at the next step, with FinishReason::kCancelled.
  void cancel(const std::shared_ptr<RunningReplies>& replies);

  // Runs the errand on the scheduler's thread, between two steps, while replies wait; returns when it is done. 503
  // while draining.
  using Task = std::function<void(Scheduler& scheduler, Slots& slots)>;
  ApiResult<void> between_steps(const Task& errand);
  int n_slots() const { return slots_.size(); }

  // Accepts nothing more, and waits at most `most` until all replies have ended; true if they have.
  bool drain(std::chrono::milliseconds most);
  bool is_draining() const;

  struct Status {
    int n_running = 0, n_waiting = 0;
    Scheduler::Stats scheduler = {};
  };
  Status status() const;

 private:
  struct PendingErrand {
    const Task* errand;
    bool* is_done;
  };
  // Holds what other threads have asked for since the last step.
  struct Inbox {
    std::vector<std::shared_ptr<RunningReplies>> asked, cancelled;
    std::vector<PendingErrand> errands;  // their callers wait for them
    bool is_empty() const { return asked.empty() && cancelled.empty() && errands.empty(); }
  };
  // Counts the replies.
  struct Load {
    Status status;
    int n_asked = 0;          // replies that the status does not count yet
    int n_in_background = 0;  // replies asked, waiting or running
  };
  // The replies that have been taken from the inbox and have not all begun.
  struct ToBegin {
    std::vector<std::shared_ptr<RunningReplies>> replies;
    int n_uncounted = 0;  // those of Load::n_asked among them
  };
  struct News {
    std::shared_ptr<RunningReplies> of;
    ReplyEvent news;
  };

  ModelService(const Engine& engine, Scheduler scheduler, const Options& options);
  void run(const std::stop_token& stop);
  void begin(const std::shared_ptr<RunningReplies>& replies, size_t index);
  void admit();
  void end_cancelled(const std::shared_ptr<RunningReplies>& replies);
  void tell(const std::shared_ptr<RunningReplies>& replies, size_t index, const Result<GenerationStep>& step,
            const GenerateResult& so_far);
  void refresh_status();
  void deliver_events(double joules);
  void run_errands();

  const Engine& engine_;
  const Options options_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  Inbox inbox_;
  Load load_;
  bool is_draining_ = false, is_idle_ = true;

  // Used by the scheduler's thread only.
  Scheduler scheduler_;
  Slots slots_;
  ToBegin to_begin_;
  std::vector<News> news_;  // of the current step
  EnergyShare energy_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tern::server
