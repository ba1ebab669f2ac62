// What `$ref` refers to within a document: by JSON pointer, `$id` and anchor.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/schema/json_value.h"

namespace tern::grammar {

class References {
 public:
  // `root` must outlive this object.
  explicit References(const JsonValue& root);

  // The value that `reference`, a member of `schema`, refers to; nullptr: there is none in the document.
  const JsonValue* find(const JsonValue& schema, std::string_view reference) const;
  // As find(), for $dynamicRef; nullptr also if what it refers to depends on the way to it.
  const JsonValue* find_dynamic(const JsonValue& schema, std::string_view reference) const;
  // As find(), for draft 2019-09's $recursiveRef.
  const JsonValue* find_recursive(const JsonValue& schema, std::string_view reference) const;

  // True if keywords beside a $ref count, as they do since draft 2019-09.
  bool siblings_count() const { return siblings_count_; }

 private:
  // A part of the document with an address of its own.
  struct Resource {
    std::string address;
    const JsonValue* root;
    std::map<std::string, const JsonValue*, std::less<>> anchors;
  };
  void visit(const JsonValue& value, size_t resource);
  void visit_member(std::string_view name, const JsonValue& value, size_t resource);
  const Resource& resource_of(const JsonValue& schema) const;
  const JsonValue* find_fragment(const Resource& resource, std::string_view fragment) const;

  std::vector<Resource> resources_;
  std::map<std::string, size_t, std::less<>> by_address_;
  std::unordered_map<const JsonValue*, size_t> resource_of_;  // without those of the first
  std::map<std::string, size_t, std::less<>> n_dynamic_;      // anchors of this name
  size_t n_recursive_ = 0;
  bool siblings_count_ = true;
  const char* id_ = "$id";
};

}  // namespace tern::grammar
