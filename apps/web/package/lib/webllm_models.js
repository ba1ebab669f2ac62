// Where WebLLM's models are for Tern, and what of their settings it takes.

import {InvalidArgumentError, NotFoundError, NotSupportedError} from './errors.js';
import {kPublished} from './published.js';

const kHuggingFace = 'https://huggingface.co/';

/** What a model is for. */
export const ModelType = Object.freeze({LLM: 0, embedding: 1, VLM: 2, 0: 'LLM', 1: 'embedding', 2: 'VLM'});

/** WebLLM's list, of the models that Tern is known to run. */
export const prebuiltAppConfig = {
  model_list: kPublished.map(({name, address, memoryBytes, memoryTokens, downloadBytes}) => ({
    model: address,
    model_id: name,
    model_lib: '',
    vram_required_MB: Math.ceil(memoryBytes / 1e6),
    low_resource_required: memoryBytes < 2e9,
    download_MB: Math.ceil(downloadBytes / 1e6),
    overrides: {context_window_size: memoryTokens},
  })),
};

/** Those of the list whose templates are known to have calls of tools; others may have them, too. */
export const functionCallingModelIds = kPublished.map(({name}) => name).filter((name) => /bonsai|qwen3/.test(name));

/** Names that WebLLM knows and Tern does not list are repositories of mlc-ai. */
export function recordOf(modelId, appConfig) {
  const record = appConfig.model_list.find(({model_id: id}) => id === modelId);
  if (record) return record;
  // -1k is WebLLM's name for one with a short context, -b4 for one that makes vectors of four texts at a time.
  const [, repository, vectors] = /^(.*-MLC)(?:-1k|(-b\d+))?$/.exec(modelId) ?? [];
  if (repository) {
    return {model: `hf:mlc-ai/${repository}`, model_id: modelId, ...(vectors ? {model_type: ModelType.embedding} : {})};
  }
  const known = appConfig.model_list.map(({model_id: id}) => id).join(', ');
  throw new NotFoundError(`${modelId}: there is no model of this name in appConfig.model_list, which has ${known}`);
}

export function addressOf({model}) {
  if (!model.startsWith(kHuggingFace)) return model;
  const [owner, name] = model.slice(kHuggingFace.length).split('/');
  return `hf:${owner}/${name}`;
}

// Settings of a conversation that WebLLM lets a model's configuration have, and Tern's names.
const kSampling = {
  temperature: 'temperature', top_p: 'topP', repetition_penalty: 'repeatPenalty',
  frequency_penalty: 'frequencyPenalty', presence_penalty: 'presencePenalty',
};
// A sliding window is off where it is not above 0, and then its sinks do nothing.
const isOff = (value) => typeof value === 'number' && value <= 0;
const kHarmless = {
  sliding_window_size: isOff,
  attention_sink_size: isOff,
  max_history_size: () => true,
};

/**
 * @param {object} options of a conversation, ChatOptions
 * @returns {{load: object, request: object, generate: object}} options of Tern.load, and what a request has by default
 *   in OpenAI's names and in Tern's
 */
export function settingsOf(options) {
  const [load, request, generate] = [{}, {}, {}];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (kSampling[name]) request[name] = generate[kSampling[name]] = value;
    else if (name === 'context_window_size') Object.assign(load, value > 0 ? {context: value} : {});
    else if (name === 'chat_template') load.chatTemplate = value;
    else if (!kHarmless[name]?.(value)) {
      throw new NotSupportedError(`${name} ${JSON.stringify(value)} of a model's options is not supported; leave it ` +
        `out. There are context_window_size, chat_template, ${Object.keys(kSampling).join(', ')}`);
    }
  }
  return {load, request, generate};
}

/** What of a record decides what is loaded. @returns {object} options of Tern.load */
export function identityOf({model_type: type, model_manifest: manifest, integrity = {}}) {
  if (manifest) throw new NotSupportedError('model_manifest: Tern finds the files of a model itself; leave it out');
  // Tern fetches no model_lib, so that hash has nothing to be compared with.
  const {config, model_lib: _, tokenizer, onFailure = 'error', ...unknown} = integrity;
  const [name] = Object.keys(unknown);
  if (name) throw new InvalidArgumentError(`integrity has no '${name}'; there are config, tokenizer and onFailure`);
  const files = {...(config ? {'mlc-chat-config.json': config} : {}), ...tokenizer};
  return {
    ...(Object.keys(files).length > 0 ? {integrity: {files, onFailure}} : {}),
    ...(type === ModelType.embedding ? {embeddings: true} : {}),
  };
}
