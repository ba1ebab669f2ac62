// The shape of OpenAI's embeddings.

import {InvalidArgumentError, NotSupportedError} from './errors.js';

const kEmbeddingFields = new Set(['input', 'model', 'user', 'encoding_format', 'dimensions']);

/** Texts, or lists of token ids, as a list. */
function inputsOf(where, input) {
  if (typeof input === 'string') return [input];
  const isTokens = (list) => Array.isArray(list) && list.length > 0 && list.every((id) => typeof id === 'number');
  if (isTokens(input)) return [input];
  const fits = Array.isArray(input) && input.length > 0 &&
    (input.every((one) => typeof one === 'string') || input.every(isTokens));
  if (fits) return input;
  throw new InvalidArgumentError(`${where}: input is a text, a list of texts, or token ids, and there is at least one`);
}

function base64Of(values) {
  let text = '';
  for (const byte of new Uint8Array(values.buffer, values.byteOffset, values.byteLength)) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}

/** Vectors of texts. The model has to be loaded with `embeddings: true`. @returns {Promise<object>} */
export async function embeddings(tern, body) {
  const where = 'embeddings.create';
  for (const [name, value] of Object.entries(body ?? {})) {
    if (value !== undefined && !kEmbeddingFields.has(name)) {
      throw new InvalidArgumentError(`${where}: there is no parameter '${name}'; leave it out`);
    }
  }
  const {input, encoding_format: format = 'float', dimensions, model} = body ?? {};
  if (!['float', 'base64'].includes(format)) {
    throw new InvalidArgumentError(`${where}: encoding_format is "float" or "base64"`);
  }
  const data = [];
  let nTokens = 0;
  for (const [index, one] of inputsOf(where, input).entries()) {
    const values = await tern.embed(one);
    if (dimensions !== undefined && dimensions !== values.length) {
      throw new NotSupportedError(`${where}: the model's vectors have ${values.length} values; leave dimensions out`);
    }
    data.push({object: 'embedding', index, embedding: format === 'float' ? Array.from(values) : base64Of(values)});
    nTokens += values.nTokens;
  }
  return {object: 'list', data, model: model ?? tern.info.name,
    usage: {prompt_tokens: nTokens, total_tokens: nTokens}};
}
