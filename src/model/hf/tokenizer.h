// The tokenizer and the chat template of a Hugging Face directory.
#pragma once

#include <optional>
#include <string>

#include "base/files/folder.h"
#include "base/result.h"
#include "model/source/source.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct HfTokenizer {
  Vocab vocab;
  std::optional<std::string> chat_template;  // Jinja source
  std::string bos, eos;                      // the template's values of bos_token and eos_token; empty: none
};

// Reads tokenizer.json or, if it is missing, tokenizer.model; also, if present, tokenizer_config.json,
// chat_template.jinja, and for the stop tokens generation_config.json or, if that is missing, config.json. Stop tokens
// are those that the files declare and those known to end a turn. Errors: kNotFound: neither tokenizer file exists;
// those of the readers, naming the file.
Result<HfTokenizer> read_hf_tokenizer(const Folder& folder);
inline Result<HfTokenizer> read_hf_tokenizer(const std::string& directory) {
  return read_hf_tokenizer(DiskFolder(directory));
}

// The same in the form that all sources use; nullopt: the directory has no tokenizer.
Result<std::optional<SourceText>> read_directory_text(const Folder& folder);

}  // namespace tern
