// The tables of a byte-level BPE tokenizer, checked and ready for use. Immutable, so threads may share them.
#pragma once

#include <memory>

#include "base/result.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/vocab_tables.h"

namespace tern {

// Normal tokens in the byte alphabet can be found by their bytes: words consist of them.
struct BpeModel : VocabTables {
  BpeModel(const Vocab& vocab, WordSplitter word_splitter)
      : VocabTables(vocab, vocab.merges.size()),
        splitter(std::move(word_splitter)),
        ignore_merges(vocab.ignore_merges),
        nfc(vocab.nfc) {}

  WordSplitter splitter;
  bool ignore_merges, nfc;
};

// kCorruption, naming the token or merge: the vocabulary contradicts itself.
Result<std::unique_ptr<BpeModel>> build_bpe_model(const Vocab& vocab);

}  // namespace tern
