#include "grammar/schema/references.h"

#include <algorithm>

#include "grammar/schema/keywords.h"

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

// The parts of an address (RFC 3986): "scheme:", "//authority", a path, and "?query".
struct Address {
  std::string_view scheme, authority, path, query;
};

Address parts_of(std::string_view text) {
  Address out;
  const size_t colon = text.find_first_of(":/?");
  if (colon != text.npos && text[colon] == ':') {
    out.scheme = text.substr(0, colon + 1);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    out.authority = text.substr(0, std::min(text.find_first_of("/?", 2), text.size()));
    text.remove_prefix(out.authority.size());
  }
  const size_t query = std::min(text.find('?'), text.size());
  out.path = text.substr(0, query);
  out.query = text.substr(query);
  return out;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const size_t end = path.find('/', 1);
    const std::string_view one = path.substr(0, end);
    path = end == path.npos ? "" : path.substr(end);
    if (one == "/..") {
      if (!kept.empty()) kept.pop_back();
      if (path.empty()) kept.push_back("/");
    } else if (one == "/.") {
      if (path.empty()) kept.push_back("/");
    } else {
      kept.push_back(one);
    }
  }
  std::string out;
  for (const std::string_view one : kept) out += one;
  return out;
}

std::string resolved(std::string_view base_text, std::string_view text) {
  if (text.empty()) return std::string(base_text);
  const Address base = parts_of(base_text), own = parts_of(text);
  if (!own.scheme.empty()) return std::string(text);
  std::string out(base.scheme);
  if (!own.authority.empty()) return out.append(own.authority).append(without_dots(own.path)).append(own.query);
  out += base.authority;
  if (own.path.empty()) return out.append(base.path).append(own.query);
  if (own.path.starts_with('/')) return out.append(without_dots(own.path)).append(own.query);
  const size_t slash = base.path.rfind('/');
  std::string path(slash == base.path.npos ? "" : base.path.substr(0, slash + 1));
  if (path.empty() && !base.authority.empty()) path = "/";
  path += own.path;
  return out.append(path.starts_with('/') ? without_dots(path) : path).append(own.query);
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += is_code ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

std::string_view before_fragment(std::string_view text) { return text.substr(0, text.find('#')); }
std::string_view fragment_of(std::string_view text) {
  const size_t hash = text.find('#');
  return hash == text.npos ? "" : text.substr(hash + 1);
}

const std::string* string_at(const JsonValue& schema, std::string_view name) {
  const JsonValue* value = schema.find(name);
  return value && value->kind == Kind::kString ? &value->text : nullptr;
}

}  // namespace

References::References(const JsonValue& root) {
  if (const std::string* draft = string_at(root, "$schema")) {
    for (const char* old : {"draft-03", "draft-04", "draft-05", "draft-06", "draft-07"}) {
      if (draft->contains(old)) siblings_count_ = false;
    }
    if (draft->contains("draft-03") || draft->contains("draft-04") || draft->contains("draft-05")) id_ = "id";
  }
  resources_.push_back({"", &root, {}});
  by_address_.emplace("", 0);
  visit(root, 0);
}

// Finds the addresses and anchors of a schema and those in it.
void References::visit(const JsonValue& value, size_t resource) {
  if (value.kind == Kind::kObject) {
    if (const std::string* id = string_at(value, id_); id && (siblings_count_ || !value.find("$ref"))) {
      const std::string_view own = before_fragment(*id);
      if (!own.empty()) {
        std::string address = resolved(resources_[resource].address, own);
        if (&value == resources_[0].root) {
          resources_[0].address = address;
        } else {
          resource = resources_.size();
          resources_.push_back({address, &value, {}});
        }
        by_address_.emplace(std::move(address), resource);
      }
      if (const std::string_view anchor = fragment_of(*id); !anchor.empty() && anchor[0] != '/') {
        resources_[resource].anchors.emplace(anchor, &value);
      }
    }
    for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
      const std::string* anchor = string_at(value, keyword);
      if (anchor) resources_[resource].anchors.emplace(*anchor, &value);
      if (anchor && keyword[1] == 'd') ++n_dynamic_[*anchor];
    }
    if (value.find("$recursiveAnchor")) ++n_recursive_;
  }
  if (resource != 0) resource_of_.emplace(&value, resource);
  for (size_t i = 0; i < value.names.size(); ++i) visit_member(value.names[i], value.items[i], resource);
}

// Visits the schemas in a keyword's value. What an annotation has is no schema, whatever it looks like.
void References::visit_member(std::string_view name, const JsonValue& value, size_t resource) {
  const Keyword* keyword = find_keyword(name);
  if (!keyword && name != "$defs" && name != "definitions") return;
  switch (keyword ? keyword->shape : Shape::kSchemaMap) {
    case Shape::kSchema:
    case Shape::kSchemas:
    case Shape::kItems:
    case Shape::kSchemaMap:
    case Shape::kDependencies:
      break;
    default:
      return;
  }
  const bool is_one = keyword && (keyword->shape == Shape::kSchema || keyword->shape == Shape::kItems);
  if (is_one && value.kind == Kind::kObject) return visit(value, resource);
  for (const JsonValue& one : value.items) visit(one, resource);
}

const References::Resource& References::resource_of(const JsonValue& schema) const {
  const auto found = resource_of_.find(&schema);
  return resources_[found == resource_of_.end() ? 0 : found->second];
}

const JsonValue* References::find_fragment(const Resource& resource, std::string_view fragment) const {
  if (fragment.empty()) return resource.root;
  const std::string decoded = percent_decoded(fragment);
  if (decoded[0] == '/') {
    // A schema that was put into another one, as a tool's is, may keep its address: pointers then go from the top.
    const JsonValue* inner = find_at(*resource.root, decoded);
    return inner ? inner : find_at(*resources_[0].root, decoded);
  }
  const auto anchor = resource.anchors.find(decoded);
  return anchor == resource.anchors.end() ? nullptr : anchor->second;
}

const JsonValue* References::find(const JsonValue& schema, std::string_view reference) const {
  const Resource& from = resource_of(schema);
  const std::string_view address = before_fragment(reference), fragment = fragment_of(reference);
  if (address.empty()) return find_fragment(from, fragment);
  const auto found = by_address_.find(resolved(from.address, address));
  return found == by_address_.end() ? nullptr : find_fragment(resources_[found->second], fragment);
}

const JsonValue* References::find_dynamic(const JsonValue& schema, std::string_view reference) const {
  const JsonValue* target = find(schema, reference);
  if (!target) return nullptr;
  const std::string anchor(fragment_of(reference));
  const std::string* own = string_at(*target, "$dynamicAnchor");
  const bool is_dynamic = own && *own == anchor;
  return is_dynamic && n_dynamic_.at(anchor) > 1 ? nullptr : target;
}

const JsonValue* References::find_recursive(const JsonValue& schema, std::string_view reference) const {
  return n_recursive_ > 1 || (n_recursive_ == 1 && resources_.size() > 1) ? nullptr : find(schema, reference);
}

}  // namespace tern::grammar
