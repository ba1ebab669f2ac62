// Models from Hugging Face or a host that speaks its protocol: downloaded once, found in the cache afterwards.
//
//   auto path = tern::hub_pull("microsoft/bitnet-b1.58-2B-4T-gguf").value();
//   auto engine = tern::Engine::load({.model_path = path}).value();
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"
#include "tern/options.h"

namespace tern {

// Empty members come from the environment, under the names that Hugging Face's own tools use.
struct HubOptions {
  std::string endpoint = {};   // HF_ENDPOINT, else https://huggingface.co
  std::string token = {};      // HF_TOKEN, else the file that HF_TOKEN_PATH names, else HF_HOME/token; may be none
  std::string cache_dir = {};  // HF_HUB_CACHE, else HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub under ~/.cache
  bool offline = false;        // use the cache only; HF_HUB_OFFLINE=1 does the same
  bool prefer_cached = false;  // ask the network only where the cache does not have it; else look for a newer version
  int connections = 8;         // at a time, for the parts of one file
  OnProgress on_progress = {};
  std::function<void(std::string_view)> on_note = {};  // what a person may want to know: waiting, starting again
  std::stop_token stop = {};                           // gives up with kInterrupted; what is there is kept
};

// Makes sure that a model is on this machine and returns its path: a file, or a directory where the repository has no
// GGUF file. `model` is
//   OWNER/NAME            the one GGUF file; of several the one that suits Tern best, if one clearly does; without any,
//                         the files of a safetensors or MLC model
//   OWNER/NAME:FILE       that file, or the one GGUF file whose name contains FILE (a quantisation, say: Q2_0)
//   OWNER/NAME@REVISION   the same of a branch, tag or commit; REVISION may be followed by :FILE
// or the address of its page. The other parts of a split GGUF file come with the first.
//
// The cache is that of huggingface_hub, so either finds what the other downloaded. A download that was interrupted
// continues where it stopped, several processes may pull at once, and a file gets its name only after its size and
// SHA-256 were found right.
//
// Errors: kInvalidArgument: `model` is no such name. kNotFound: no such repository, revision or file, not in the cache
// while offline, or several files to choose from, which are then listed. kIo: the network, the disk (full, read-only),
// a refused or missing token. kCorruption: what came is not what the host announced. kInterrupted. kNotSupported: this
// Tern was built without libcurl.
Result<std::string> hub_pull(const std::string& model, const HubOptions& options = {});

struct HubFile {
  std::string path;               // within the repository
  std::optional<uint64_t> bytes;  // none where the host does not tell
};

// What a repository holds, sorted by name; where there is no network, what the cache has of it. `model` as above; a
// :FILE has no effect.
Result<std::vector<HubFile>> hub_list(const std::string& model, const HubOptions& options = {});

}  // namespace tern
