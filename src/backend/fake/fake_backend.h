// A backend without a model: logits come from a script, so that whatever sits above a backend is tested on its own.
#pragma once

#include <vector>

#include "backend/backend.h"

namespace tern::fake {

struct Script {
  int n_vocab = 0;
  // The token to favour at each position: the logits after position i are highest at next[i]. Past the end: the last.
  std::vector<TokenId> next;
  int max_batch = 4;
  int max_logit_rows = 2;
  int max_slices = 1;
  int block_tokens = 0;    // of the KV store; 0: a block is a whole context
  int most_ctx = 1 << 24;  // there is no memory for more tokens in all
  int fail_at_pos = -1;    // run() returns kDeviceLost when a batch reaches this position, and so does a stream
  int nan_at_pos = -1;     // the logits after this position and all later ones are NaN
  bool decodes = false;    // chooses tokens itself: decode() gives a stream
  int most_streamed = 64;  // … of at most so many sequences
  int runs_ahead = 0;      // … which runs so many tokens more than were taken
};

// What has been run, for tests to look at.
struct Log {
  struct Call {
    std::vector<TokenId> tokens;
    int first_pos;
    WantLogits logits;
    int n_best = 0;
    int batch = 0;  // which it was part of
    std::vector<KvBlockId> blocks = {};
  };
  std::vector<Call> calls;
  struct Stream {
    TokenId token;
    int pos;
    int n_tokens;
    DeviceSampling sampling;
    int n_taken = 0;
    std::vector<float> random = {};  // a number for every token drawn, taken or not
    int together = 0;                // how many sequences the stream has
  };
  std::vector<Stream> streams;  // those of several sequences one after the other
  int n_live_streams = 0;
  int n_batches = 0;
  int n_blocks = 0;  // that have memory
};

// `log` must outlive the executable.
std::unique_ptr<Executable> make_executable(Script script, Log& log);

}  // namespace tern::fake
