// Resolves choices: the ways in which clauses can hold together, without those that no document fits.
#pragma once

#include <map>

#include "grammar/schema/clauses.h"

namespace tern::grammar {

class Alternatives {
 public:
  explicit Alternatives(SchemaReader& reader) : reader_(reader) {}

  // One of these holds exactly if `clauses` hold, as far as documents can be written. They have no choices left.
  Result<std::vector<Clauses>> of(const Clauses& clauses);

  // False: it is certain that no document fits. Formats count as the widest reading of them.
  Result<bool> possible(const Clauses& clauses, int depth = 0);

 private:
  struct Open {
    Clauses own;                                            // clauses that were taken apart
    std::vector<std::pair<ClauseId, size_t>> choices = {};  // those left: the clause, and which of its choices
    std::vector<Clause::OtherProperty> some = {};
    bool is_dead = false;
    int level = 0;  // choices made one after another
  };
  struct Search {
    std::vector<Clauses> found = {};
    size_t most, budget;
    int depth;
    bool is_over = false;
  };
  Result<void> add(ClauseId id, Open& open);
  Result<bool> possible(Open open, int depth);
  Result<void> search(Open open, Search& search);
  Result<void> settle(Open& open, int depth);
  Result<std::vector<Open>> options(const Open& open, std::pair<ClauseId, size_t> choice, int depth);
  Result<bool> is_implied(Open& open, std::pair<ClauseId, size_t> choice, int depth);
  Result<ClauseId> witnesses(const Open& open, const Clause::OtherProperty& some);
  Result<bool> dead(const Clauses& own, int depth);
  Result<bool> dead_type(const Clauses& own, uint8_t type, int depth);
  Result<bool> dead_object(const Clauses& own, int depth);
  Result<bool> dead_texts(const Clauses& own);
  Result<bool> dead_values(const Clauses& own);

  SchemaReader& reader_;
  std::map<std::pair<Clauses, int>, bool> known_;
  std::map<Clauses, bool> dead_texts_;
  size_t work_ = 0;
};

}  // namespace tern::grammar
