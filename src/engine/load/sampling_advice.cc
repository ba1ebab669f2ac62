#include "engine/load/sampling_advice.h"

#include "model/sampling.h"
#include "tern/published.h"

namespace tern {

SamplingAdvice advice_for(const Model& model) {
  SamplingAdvice advice = read_sampling_advice(*model.source);
  if (!advice.source.empty()) return advice;
  const PublishedModel* published = find_published_file(model.name, model.config.architecture);
  if (!published || !gives_any(published->sampling)) return advice;
  return {.values = published->sampling, .source = "tern models"};
}

}  // namespace tern
