// Models from Hugging Face or a host that speaks its protocol: downloaded once, found in the cache afterwards.
//
//   auto path = tern::hub_pull("microsoft/bitnet-b1.58-2B-4T-gguf").value();
//   auto engine = tern::Engine::load({.model_path = path}).value();
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"
#include "tern/file_preview.h"
#include "tern/options.h"

namespace tern {

// Empty members come from the environment, under the names that Hugging Face's own tools use.
struct HubOptions {
  std::string endpoint = {};   // HF_ENDPOINT, else https://huggingface.co
  std::string token = {};      // HF_TOKEN, else the file that HF_TOKEN_PATH names, else HF_HOME/token; may be none
  std::string cache_dir = {};  // HF_HUB_CACHE, else HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub under ~/.cache
  bool offline = false;        // use the cache only; HF_HUB_OFFLINE=1 does the same
  bool prefer_cached = false;  // ask the network only for what the cache lacks; false: look for a newer version
  int connections = 8;         // at a time, for the parts of one file
  // Asked before a model is downloaded (a GGUF file, all parts of a split one, or the files of a directory): an error
  // is hub_pull's own, and nothing is fetched beyond what was looked at. check_model_header() tells what Tern will
  // refuse. A host that sends no parts of files cannot be asked; then the model is downloaded as it is.
  std::function<Result<void>(std::span<const FilePreview> files)> check = {};
  OnProgress on_progress = {};
  std::function<void(std::string_view)> on_note = {};  // what a person may want to know: waiting, starting again
  std::stop_token stop = {};                           // gives up with kInterrupted and keeps what has arrived
};

// Makes sure that a model is on this machine and returns its path: a file, or a directory if the repository has no GGUF
// file. `model` is
//   OWNER/NAME            the only GGUF file; of several, the one that suits Tern best: ternary and 1-bit ones first,
//                         then Q8_0, Q6_K, Q4_K_M, Q4_0, BF16, F16 and others that Tern runs; if there is none, the
//                         files of a safetensors or MLC model
//   OWNER/NAME:FILE       that file, or the one GGUF file whose name contains FILE (a quantisation, say: Q2_0)
//   OWNER/NAME@REVISION   the same of a branch, tag or commit; REVISION may be followed by :FILE
// or the address of its page. The other parts of a split GGUF file come with the first.
//
// The cache is the one that huggingface_hub uses, so each finds what the other has downloaded. An interrupted download
// continues where it stopped, several processes may pull at once, and a file gets its name only after its size and
// SHA-256 have been verified.
//
// Errors: kInvalidArgument: `model` is not such a name. kNotFound: no such repository, revision or file, not in the
// cache while offline, or several files to choose from, which are then listed. kIo: the network, the disk (full,
// read-only), a refused or missing token. Any that `check` gives. kCorruption: what arrived is not what the host
// announced. kInterrupted. kNotSupported: this Tern was built without libcurl.
Result<std::string> hub_pull(const std::string& model, const HubOptions& options = {});

struct HubFile {
  std::string path;               // within the repository
  std::optional<uint64_t> bytes;  // none if the host does not say
};

// The files of a repository, sorted by name; without a network, those of them that the cache has. `model` as above; a
// :FILE has no effect.
Result<std::vector<HubFile>> hub_list(const std::string& model, const HubOptions& options = {});

// A model on this machine: the name under which hub_pull() finds it, and how much disk space it uses.
struct CachedModel {
  std::string name;  // OWNER/NAME:FILE for a GGUF file, OWNER/NAME for a directory
  uint64_t bytes = 0;
  bool unfinished = false;  // the download was interrupted; hub_pull() continues it
};

// All of them, sorted by name. Other programs that share the cache may have put some there.
Result<std::vector<CachedModel>> hub_cached(const HubOptions& options = {});

// Removes a model from the cache and returns the bytes that this frees. `name` is one of hub_cached(), or a repository
// OWNER/NAME, all of which goes then. What another name still needs stays. kNotFound: it is not there. kIo: it cannot
// be removed, or another process is downloading it.
Result<uint64_t> hub_remove(const std::string& name, const HubOptions& options = {});

}  // namespace tern
