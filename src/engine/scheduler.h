// Decides which replies run in the next pass, and distributes its results.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/kv/kv_blocks.h"
#include "engine/kv/sequence.h"
#include "engine/reply/block_drafter.h"
#include "engine/reply/generation.h"
#include "tern/scheduler.h"

namespace tern {

class Scheduler::Impl {
 public:
  struct Model {
    Executable& executable;
    const Tokenizer* tokenizer;  // may be null
    int n_vocab;
    SampleOptions advised;
    std::shared_ptr<PassTimes> times;                     // null: the scheduler's own
    std::shared_ptr<GrammarCache> grammars = {};          // null: the scheduler's own
    std::function<Result<std::string>()> cache_key = {};  // see Engine::Impl; null: no cache files
    // A drafter for one reply; all of them can run together. Null: draft tokens come from the text.
    std::function<std::unique_ptr<BlockDrafter>()> new_drafter = {};
    std::function<double()> now = {};  // in seconds; null: the steady clock
  };
  // All arguments must outlive the scheduler. `root`: see Sequence.
  Impl(const Model& model, std::shared_ptr<KvBlocks> blocks, PrefixId root, const SchedulerOptions& options);

  // See Scheduler in include/tern/scheduler.h.
  Result<ReplyId> submit(std::span<const TokenId> prompt, const GenerateOptions& options, OnStep on_step);
  void cancel(ReplyId reply);
  bool step();
  Result<size_t> save_cache(std::span<const TokenId> tokens, const std::string& path);
  Result<std::vector<TokenId>> load_cache(const std::string& path);
  size_t drop_cache(std::span<const TokenId> tokens);
  int n_running() const { return static_cast<int>(running_.size()); }
  int n_waiting() const { return static_cast<int>(waiting_.size()); }
  Stats stats() const;

 private:
  struct Request {
    ReplyId id = 0;
    std::vector<TokenId> prompt;
    GenerateOptions options;
    OnStep on_step;
    double submitted = 0;  // Model::now()
    bool is_cancelled = false;
    bool is_over = false;
    // Set on admission. The order matters: the generation is destroyed first.
    std::unique_ptr<Sequence> sequence;
    std::unique_ptr<BlockDrafter> drafter;  // null: draft tokens come from the text
    Generation::Impl* active = nullptr;
    std::unique_ptr<Generation::Impl> generation;
  };
  using Requests = std::deque<std::unique_ptr<Request>>;

  // A pass under construction.
  struct Pass {
    std::vector<Request*> requests;
    std::vector<Slice> slices;  // one for each request
    int n_tokens = 0, n_rows = 0;
    // Rows of decoding replies, the number of tokens expected from them, and how many decoding and prefilling requests
    // are still to be added.
    size_t n_decode_rows = 0;
    double expected = 0;
    int n_decoding = 0, n_prefilling = 0;
    int n_prompt_tokens = 0, most_prompt_tokens = 0;
  };

  void admit();
  void begin(Request& request);
  void end_cancelled();
  void draft();
  void tell_drafters(const Pass& pass);
  Pass plan_pass();
  int most_prompt_tokens(bool beside_replies) const;
  double stall_factor() const;
  void learn_from(const Pass& pass, double seconds);
  bool has_room(const Pass& pass, const Request& request) const;
  void add_to(Pass& pass, Request& request);
  PassPlan plan_slice(const Pass& pass, bool drafts, bool is_prompt) const;
  bool make_room_for(const Request& request, const Pass& pass);
  void count(const Pass& pass, double seconds);  // one that has run
  void run(const Pass& pass);
  // The same for a pass with prompts, if the device chooses all its tokens: logits of many replies take long to read.
  bool run_and_choose(const Pass& pass);
  bool run_stream();
  bool is_streaming() const;
  bool begin_stream();
  bool begin_stream(std::span<Request* const> requests, int n_steps);
  void end_stream();
  void run_in_turns();
  void remove_those_over();
  void tell(Request& request);
  std::unique_ptr<Sequence> find(std::span<const TokenId> tokens);  // the cached prefix, in whole blocks

  Model model_;
  std::shared_ptr<KvBlocks> blocks_;
  PrefixId root_;
  SchedulerOptions options_;
  int most_tokens_;
  int most_running_;            // replies
  Requests running_, waiting_;  // in order of arrival
  // Device-side sampling: the replies of the stream, and the number of tokens per reply that it has not delivered yet.
  std::vector<Request*> streamed_;
  std::unique_ptr<TokenStream> stream_;
  int n_to_stream_ = 0;
  std::vector<ReplyId> refused_;  // replies that the device declined to sample together
  ReplyId next_id_ = 1;
  double prompt_token_seconds_ = 0;  // recent pass time per prompt token; 0: unknown
  Stats stats_;
};

}  // namespace tern
