// A model that many ask at once: a thread of its own steps the scheduler, and every reply's news wait in a box for
// whoever asked.
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
#include "server/api/energy_meter.h"
#include "server/api/slots.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern::server {

// What came of a step of a reply.
struct ReplyNews {
  size_t index = 0;  // which of the replies that were asked for together
  std::string text = {};
  std::optional<TokenId> token = {};
  std::vector<Logprobs> logprobs = {};  // of the token, where asked for
  std::optional<FinishReason> finish = {};
  std::optional<Error> error = {};  // ends it as well
  GenerateStats stats = {};         // so far
  double joules = 0;                // so far, its share of every step's; 0 where they are not measured
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  bool is_over() const { return finish || error; }
};

// Replies to one prompt, or to several, under way. The scheduler's thread puts their news in, one other takes them out.
class RunningReplies {
 public:
  struct Manner {
    bool each_step = false;      // else waiting ends at the replies' ends only
    bool in_background = false;  // for nobody who waits
    int slot = -1;               // which is to know them; see Slots
  };
  // To each prompt as many replies as there are options: those to the first prompt come first.
  RunningReplies(std::vector<std::vector<TokenId>> prompts, std::span<const GenerateOptions> options, Manner manner);

  size_t size() const { return replies_.size(); }
  std::chrono::steady_clock::time_point asked() const { return asked_; }
  // The news so far, as soon as there are any; none where none come in time.
  std::deque<ReplyNews> wait_for(std::chrono::milliseconds time);

 private:
  friend class ModelService;
  using Clock = std::chrono::steady_clock;
  // The scheduler's thread's own.
  struct Reply {
    size_t prompt;
    GenerateOptions options;
    Scheduler::ReplyId id = 0;  // 0: not begun
    bool is_over = false;
    double joules = 0;
    size_t n_told = 0;            // log probabilities
    Clock::time_point last = {};  // when its last token came
  };

  void put(ReplyNews news);

  struct Prompt {
    std::vector<TokenId> tokens;
    bool is_read = false;  // by the first of its replies; the others share it
  };
  const Manner manner_;
  const Clock::time_point asked_ = Clock::now();
  std::vector<Prompt> prompts_;
  std::vector<Reply> replies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ReplyNews> news_;
};

// What the server is measured by; times in seconds.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;
  // From the asking to the first token; between two tokens; a reply's end; a pass over the model. Called on the
  // scheduler's thread.
  virtual void on_first_token(double seconds) = 0;
  virtual void on_token(double seconds) = 0;
  virtual void on_end(const ReplyNews& last) = 0;
  // `joules`: of the machine since the step before, this model's share; 0 where they are not measured.
  virtual void on_step(double seconds, int n_running, double joules) = 0;
};

class ModelService {
 public:
  struct Options {
    SchedulerOptions scheduler = {};
    int max_waiting = 256;                // replies that are not running yet
    ServiceObserver* observer = nullptr;  // must outlive the service
    EnergyMeter* energy = nullptr;        // likewise; null: it is not measured
    bool keeps_slots = false;             // else Slots know of nothing
  };
  // The engine must outlive it. Errors: those of Engine::new_scheduler().
  static Result<std::unique_ptr<ModelService>> start(const Engine& engine, const Options& options);
  ~ModelService();  // replies under way end without a word

  const Engine& engine() const { return engine_; }
  bool measures_energy() const { return options_.energy != nullptr; }
  int n_ctx() const { return n_ctx_; }  // of each reply

  // 429 where too many wait, 503 while draining. What the engine refuses is a reply's first news. Replies in the
  // background take no place from others: these wait as if they were not there. They themselves get 429 unless there is
  // room for them now, beside a quarter of the places that is kept free.
  ApiResult<void> ask(const std::shared_ptr<RunningReplies>& replies);
  // They end at the next step, with FinishReason::kCancelled.
  void cancel(const std::shared_ptr<RunningReplies>& replies);

  // Runs on the scheduler's thread, between two steps, while answers wait, and returns when it is done. 503 while
  // draining.
  using Errand = std::function<void(Scheduler& scheduler, Slots& slots)>;
  ApiResult<void> between_steps(const Errand& errand);
  int n_slots() const { return slots_.size(); }

  // Takes nothing more, and waits until what is there has ended, at most so long; true where it has.
  bool drain(std::chrono::milliseconds most);
  bool is_draining() const;

  struct Status {
    int n_running = 0, n_waiting = 0;
    Scheduler::Stats scheduler = {};
  };
  Status status() const;

 private:
  ModelService(const Engine& engine, Scheduler scheduler, const Options& options);
  void run(const std::stop_token& stop);
  void begin(const std::shared_ptr<RunningReplies>& replies, size_t index);
  void begin_more();
  void end_cancelled(const std::shared_ptr<RunningReplies>& replies);
  void tell(const std::shared_ptr<RunningReplies>& replies, size_t index, const Result<GenerationStep>& step,
            const GenerateResult& so_far);
  void refresh_status();
  void hand_out(double joules);
  void run_errands();

  const Engine& engine_;
  Options options_;
  int n_ctx_ = 0;
  Scheduler scheduler_;
  Slots slots_;  // the scheduler's thread's
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<RunningReplies>> asked_, cancelled_;  // since the last step
  int n_asked_ = 0;                                                 // replies that the status does not count yet
  int n_taken_ = 0;          // … of them those in to_begin_; the scheduler's thread's
  int n_in_background_ = 0;  // replies asked, waiting or running
  struct PendingErrand {
    const Errand* errand;
    bool* is_done;
  };
  std::vector<PendingErrand> errands_;  // of those who wait for them
  bool is_draining_ = false, is_idle_ = true;
  Status status_;
  std::vector<std::shared_ptr<RunningReplies>> to_begin_;  // some of them, at least
  struct News {
    std::shared_ptr<RunningReplies> of;
    ReplyNews news;
  };
  std::vector<News> news_;  // of the step under way
  EnergyShare energy_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tern::server
