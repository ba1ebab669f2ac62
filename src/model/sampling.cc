#include "model/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/files/mapped_file.h"
#include "base/json_reader.h"
#include "model/mlc/source.h"

namespace tern {
namespace {

constexpr std::string_view kGgufPrefix = "general.sampling.";

// One of the sampler's numbers, with its names elsewhere; empty: it does not exist there.
struct AdvisedNumber {
  std::string_view gguf;
  std::string_view json;
  bool (*set)(SampleOptions& options, double value);  // false: out of range; `value` is finite
};
constexpr AdvisedNumber kAdvisedNumbers[] = {
    {"temp", "temperature",
     [](SampleOptions& o, double x) {
       if (x >= 0) o.temperature = static_cast<float>(x);
       return x >= 0;
     }},
    {"top_k", "top_k",
     [](SampleOptions& o, double x) {
       if (x <= 1e9) o.top_k = static_cast<int>(std::max(x, 0.0));
       return x <= 1e9;
     }},
    {"top_p", "top_p",
     [](SampleOptions& o, double x) {
       if (x > 0 && x <= 1) o.top_p = static_cast<float>(x);
       return x > 0 && x <= 1;
     }},
    {"min_p", "min_p",
     [](SampleOptions& o, double x) {
       if (x >= 0 && x <= 1) o.min_p = static_cast<float>(x);
       return x >= 0 && x <= 1;
     }},
    {"penalty_repeat", "repetition_penalty",
     [](SampleOptions& o, double x) {
       if (x > 0) o.repeat_penalty = static_cast<float>(x);
       return x > 0;
     }},
    {"penalty_last_n", "",
     [](SampleOptions& o, double x) {
       const bool fits = x >= -1 && x <= 1 << 20;
       if (fits) o.repeat_last_n = static_cast<int>(x);
       return fits;
     }},
    {"penalty_present", "presence_penalty",
     [](SampleOptions& o, double x) {
       o.presence_penalty = static_cast<float>(x);
       return true;
     }},
    {"penalty_freq", "frequency_penalty",
     [](SampleOptions& o, double x) {
       o.frequency_penalty = static_cast<float>(x);
       return true;
     }},
    {"typ_p", "typical_p",
     [](SampleOptions& o, double x) {
       if (x > 0 && x <= 1) o.typical_p = static_cast<float>(x);
       return x > 0 && x <= 1;
     }},
    {"xtc_probability", "",
     [](SampleOptions& o, double x) {
       if (x >= 0 && x <= 1) o.xtc_probability = static_cast<float>(x);
       return x >= 0 && x <= 1;
     }},
    {"xtc_threshold", "",
     [](SampleOptions& o, double x) {
       if (x >= 0 && x <= 1) o.xtc_threshold = static_cast<float>(x);
       return x >= 0 && x <= 1;
     }},
    {"mirostat", "",
     [](SampleOptions& o, double x) {
       const bool is_version = x == 0 || x == 1 || x == 2;
       if (is_version) o.mirostat = static_cast<int>(x);
       return is_version;
     }},
    {"mirostat_tau", "",
     [](SampleOptions& o, double x) {
       if (x >= 0) o.mirostat_tau = static_cast<float>(x);
       return x >= 0;
     }},
    {"mirostat_eta", "",
     [](SampleOptions& o, double x) {
       if (x >= 0 && x <= 1) o.mirostat_eta = static_cast<float>(x);
       return x >= 0 && x <= 1;
     }},
};

// Filters that Tern lacks, each with the value that turns it off.
struct MissingFilter {
  std::string_view gguf;
  std::string_view json;
  double off;
};
constexpr MissingFilter kMissingFilters[] = {
    {"", "no_repeat_ngram_size", 0}, {"", "num_beams", 1},  {"", "penalty_alpha", 0},
    {"", "epsilon_cutoff", 0},       {"", "eta_cutoff", 0},
};

// True if a list such as "penalties;top_k;temperature" has Tern's filters in Tern's own order.
bool is_own_order(std::string_view sequence) {
  constexpr std::string_view kOrder[] = {"penalties", "dry",   "top_n_sigma", "top_k",      "typ_p",
                                         "top_p",     "min_p", "xtc",         "temperature"};
  ptrdiff_t last = -1;
  while (!sequence.empty()) {
    const size_t end = std::min(sequence.find(';'), sequence.size());
    const auto* const found = std::ranges::find(kOrder, sequence.substr(0, end));
    sequence.remove_prefix(std::min(end + 1, sequence.size()));
    if (found == std::end(kOrder)) continue;
    if (found - kOrder <= last) return false;
    last = found - kOrder;
  }
  return true;
}

class AdviceReader {
 public:
  explicit AdviceReader(std::string source) { advice_.source = std::move(source); }

  // Takes `value` for the number `name`; `text` is its spelling.
  void take(std::string_view name, std::optional<double> value, const std::string& text,
            std::string_view AdvisedNumber::* number_name, std::string_view MissingFilter::* filter_name) {
    const auto* const number = std::ranges::find(kAdvisedNumbers, name, number_name);
    if (number != std::end(kAdvisedNumbers)) {
      if (!value || !std::isfinite(*value) || !number->set(advice_.values, *value)) refuse(name, text);
      return;
    }
    const auto* const filter = std::ranges::find(kMissingFilters, name, filter_name);
    if (filter == std::end(kMissingFilters) || !value || *value != filter->off) refuse(name, text);
  }
  void refuse(std::string_view name, const std::string& text) {
    advice_.not_followed.push_back(std::string(name) + " " + text);
  }

  SampleOptions& values() { return advice_.values; }
  SamplingAdvice finish() {
    if (!gives_any(advice_.values)) advice_.source.clear();
    return std::move(advice_);
  }

 private:
  SamplingAdvice advice_;
};

SamplingAdvice read_gguf_advice(const GgufFile& file) {
  AdviceReader reader("general.sampling");
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(kGgufPrefix)) continue;
    const std::string_view name = key.substr(kGgufPrefix.size());
    if (name == "sequence") {
      const auto order = file.get_string(key);
      const bool is_text = order && *order;
      if (!is_text || !is_own_order(**order)) reader.refuse(name, is_text ? std::string(**order) : "(no text)");
      continue;
    }
    const auto number = file.get_float(key);
    const std::optional<double> given = number ? *number : std::nullopt;
    reader.take(name, given, given ? format_text("{}", static_cast<float>(*given)) : "(no number)",
                &AdvisedNumber::gguf, &MissingFilter::gguf);
  }
  return reader.finish();
}

bool is_advised_name(std::string_view name) {
  return std::ranges::contains(kAdvisedNumbers, name, &AdvisedNumber::json) ||
         std::ranges::contains(kMissingFilters, name, &MissingFilter::json);
}

SamplingAdvice read_json_advice(const Folder& folder) {
  const std::string file_name = is_mlc_directory(folder) ? "mlc-chat-config.json" : "generation_config.json";
  AdviceReader reader(file_name);
  const auto file = folder.open(file_name);
  if (!file) return {};  // most directories have none
  const Result<Json> json = parse_json(as_text((*file)->resident()), file_name);
  if (!json || !json->is_object()) {
    reader.refuse(file_name, "(no JSON object)");
    return reader.finish();
  }
  for (const auto& [name, value] : json->items()) {
    if (name.empty() || value.is_null() || !is_advised_name(name)) continue;
    reader.take(name, value.is_number() ? std::optional(value.get<double>()) : std::nullopt, value.dump(),
                &AdvisedNumber::json, &MissingFilter::json);
  }
  const auto samples = json->find("do_sample");
  if (samples != json->end() && samples->is_boolean() && !samples->get<bool>()) reader.values().temperature = 0.0f;
  return reader.finish();
}

}  // namespace

SamplingAdvice read_sampling_advice(const ModelSource& source) {
  if (source.gguf()) return read_gguf_advice(*source.gguf());
  return source.folder() ? read_json_advice(*source.folder()) : SamplingAdvice();
}

void write_gguf_sampling(const SampleOptions& values, GgufWriter& writer) {
  const auto add_real = [&](std::string_view name, const std::optional<float>& value) {
    if (value) writer.add_f32(std::string(kGgufPrefix) += name, *value);
  };
  const auto add_whole = [&](std::string_view name, const std::optional<int>& value) {
    if (value) writer.add_i32(std::string(kGgufPrefix) += name, *value);
  };
  add_real("temp", values.temperature);
  add_whole("top_k", values.top_k);
  add_real("top_p", values.top_p);
  add_real("min_p", values.min_p);
  add_real("penalty_repeat", values.repeat_penalty);
  add_whole("penalty_last_n", values.repeat_last_n);
  add_real("penalty_present", values.presence_penalty);
  add_real("penalty_freq", values.frequency_penalty);
  add_real("typ_p", values.typical_p);
  add_real("xtc_probability", values.xtc_probability);
  add_real("xtc_threshold", values.xtc_threshold);
  add_whole("mirostat", values.mirostat);
  add_real("mirostat_tau", values.mirostat_tau);
  add_real("mirostat_eta", values.mirostat_eta);
}

bool gives_any(const SampleOptions& o) {
  return o.temperature || o.top_k || o.top_p || o.min_p || o.repeat_penalty || o.repeat_last_n || o.presence_penalty ||
         o.frequency_penalty || o.typical_p || o.xtc_probability || o.xtc_threshold || o.mirostat || o.mirostat_tau ||
         o.mirostat_eta;
}

}  // namespace tern
