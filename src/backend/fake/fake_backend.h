// A backend without a model: logits come from a script, so that the layers above a backend can be tested alone.
#pragma once

#include <vector>

#include "backend/backend.h"

namespace tern::fake {

struct Script {
  int n_vocab = 0;
  // The token to prefer at each position: the logits after position i are highest at next[i]. Past the end: the last.
  std::vector<TokenId> next;
  int max_batch = 4;
  int max_logit_rows = 2;
  int max_slices = 1;
  int block_tokens = 0;    // of the KV store; 0: a block holds a whole context
  int most_ctx = 1 << 24;  // the store has memory for this many tokens in all
  int fail_at_pos = -1;    // run() returns kDeviceLost when a batch reaches this position, and so does a stream
  int nan_at_pos = -1;     // the logits after this position and all later ones are NaN
  bool decodes = false;    // samples tokens itself: decode() returns a stream
  bool chooses = false;    // … and run_and_choose() returns tokens
  int most_streamed = 64;  // … of at most this many sequences
  int runs_ahead = 0;      // … which runs this many tokens ahead of those taken
};

// Records what was run, for tests.
struct Log {
  struct Call {
    std::vector<TokenId> tokens;
    int first_pos;
    WantLogits logits;
    int n_best = 0;
    int batch = 0;  // number of its batch
    std::vector<KvBlockId> blocks = {};
  };
  std::vector<Call> calls;
  struct Stream {
    TokenId token;
    int pos;
    int n_tokens;
    DeviceSampling sampling;
    int n_taken = 0;
    std::vector<float> random = {};                      // one number per token drawn, taken or not
    int together = 0;                                    // number of sequences in the stream
    std::vector<std::vector<LogitChange>> changes = {};  // for each token taken, if there may be any
  };
  std::vector<Stream> streams;  // a stream of several sequences has consecutive entries
  int n_live_streams = 0;
  int n_batches = 0;
  int n_chosen = 0;  // tokens of run_and_choose()
  int n_blocks = 0;  // blocks that have memory
};

// `log` must outlive the executable.
std::unique_ptr<Executable> make_executable(Script script, Log& log);

}  // namespace tern::fake
