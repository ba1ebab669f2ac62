// What callers may pass, checked: every wrong option is told by its name.

import {InvalidArgumentError, NotSupportedError} from './errors.js';
import {isValidSRI} from './integrity.js';
import {filesOf} from './local_model.js';
import {shapeOf} from './locate_model.js';

function refuse(name, value, wanted) {
  const shown = typeof value === 'function' ? 'a function' : JSON.stringify(value) ?? String(value);
  throw new InvalidArgumentError(`${name}: ${shown} is not ${wanted}`);
}

function number(name, {min, max = Infinity, integer = false}) {
  const range = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
  return (value) => {
    const fits = typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value));
    if (!fits) refuse(name, value, `${integer ? 'a whole number' : 'a number'} ${range}`);
    return value;
  };
}

function oneOf(name, ...values) {
  return (value) => {
    if (!values.includes(value)) refuse(name, value, `one of ${values.map((v) => JSON.stringify(v)).join(', ')}`);
    return value;
  };
}

function ofType(name, type) {
  return (value) => {
    if (typeof value !== type) refuse(name, value, `a ${type}`);
    return value;
  };
}

/** {token id: bias}; -Infinity: never. @returns {[number, number | null][]} null is that, which JSON has no word for */
function biases(name) {
  return (value) => {
    const isObject = typeof value === 'object' && !Array.isArray(value);
    const list = isObject ? Object.entries(value).map(([id, bias]) => [Number(id), bias]) : [];
    const fits = isObject && list.every(([id, bias]) => (
      Number.isInteger(id) && id >= 0 && typeof bias === 'number' && (Number.isFinite(bias) || bias === -Infinity)));
    if (!fits) refuse(name, value, 'an object of numbers by token ids');
    return list.map(([id, bias]) => [id, bias === -Infinity ? null : bias]);
  };
}

function strings(name) {
  return (value) => {
    const list = typeof value === 'string' ? [value] : value;
    const fits = Array.isArray(list) && list.every((one) => typeof one === 'string');
    if (!fits) refuse(name, value, 'a string or a list of them');
    return list;
  };
}

/** A JSON schema, as a value or as text. @returns {string} */
function schema(name) {
  const object = jsonObject(name, 'a JSON schema');
  return (value) => (typeof value === 'boolean' ? JSON.stringify(value) : object(value));
}

/** An object, as a value or as text. @returns {string} */
function jsonObject(name, wanted) {
  return (value) => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || Array.isArray(value)) refuse(name, value, wanted);
    return JSON.stringify(value);
  };
}

function list(name) {
  return (value) => {
    if (!Array.isArray(value)) refuse(name, value, 'a list');
    return value;
  };
}

/** {path: 'sha256-…'}, or with what is done of another file. @returns {import('./integrity.js').Integrity} */
function integrity(name) {
  return (value) => {
    const {files, onFailure = 'error'} = value;
    const fits = typeof files === 'object' && files !== null && ['error', 'warn'].includes(onFailure) &&
      Object.values(files).every((sri) => typeof sri === 'string' && isValidSRI(sri));
    if (!fits) refuse(name, value, "{files: {PATH: 'sha256-…' (or sha384, sha512)}, onFailure: 'error' or 'warn'}");
    return {files, onFailure};
  };
}

/** WebLLM's, as far as a generation needs it. */
function logitProcessor(name) {
  return (value) => {
    const isMethod = (method) => method === undefined || typeof method === 'function';
    const fits = typeof value.processLogits === 'function' && isMethod(value.processSampledToken);
    if (!fits) refuse(name, value, 'an object with the method processLogits');
    return value;
  };
}

const any = (value) => value;

const kLoad = {
  onProgress: ofType('onProgress', 'function'),
  onLog: ofType('onLog', 'function'),
  signal: any,
  backend: oneOf('backend', 'auto', 'webgpu', 'cpu', 'ref'),
  threads: number('threads', {min: 1, max: 1024, integer: true}),
  context: number('context', {min: 1, integer: true}),
  kv: oneOf('kv', 'f16', 'f32', 'q8_0'),
  memoryLimit: number('memoryLimit', {min: 0}),
  sha256: any,
  integrity: integrity('integrity'),
  verify: ofType('verify', 'boolean'),
  worker: any,
  gpu: any,
  gpuWithout: strings('gpuWithout'),
  chatTemplate: ofType('chatTemplate', 'string'),
  storage: ofType('storage', 'boolean'),
  embeddings: ofType('embeddings', 'boolean'),
  shared: ofType('shared', 'boolean'),
  hub: ofType('hub', 'string'),
  baseUrl: any,
  emscripten: any,
};

const kGenerate = {
  temperature: number('temperature', {min: 0}),
  topK: number('topK', {min: 0, integer: true}),
  topP: number('topP', {min: 0, max: 1}),
  minP: number('minP', {min: 0, max: 1}),
  repeatPenalty: number('repeatPenalty', {min: Number.MIN_VALUE}),
  repeatLastN: number('repeatLastN', {min: -1, integer: true}),
  presencePenalty: number('presencePenalty', {min: -100, max: 100}),
  frequencyPenalty: number('frequencyPenalty', {min: -100, max: 100}),
  dryMultiplier: number('dryMultiplier', {min: 0}),
  dryBase: number('dryBase', {min: 1}),
  dryAllowedLength: number('dryAllowedLength', {min: 0, integer: true}),
  dryPenaltyLastN: number('dryPenaltyLastN', {min: -1, integer: true}),
  drySequenceBreakers: strings('drySequenceBreakers'),
  topNSigma: number('topNSigma', {min: -1}),
  typicalP: number('typicalP', {min: Number.MIN_VALUE, max: 1}),
  xtcProbability: number('xtcProbability', {min: 0, max: 1}),
  xtcThreshold: number('xtcThreshold', {min: 0, max: 1}),
  mirostat: number('mirostat', {min: 0, max: 2, integer: true}),
  mirostatTau: number('mirostatTau', {min: 0}),
  mirostatEta: number('mirostatEta', {min: 0, max: 1}),
  samplers: (value) => strings('samplers')(value).join(';'),
  minTokens: number('minTokens', {min: 0, integer: true}),
  logitBias: biases('logitBias'),
  logprobs: number('logprobs', {min: 0, max: 1000, integer: true}),
  maxTokens: number('maxTokens', {min: -1, integer: true}),
  seed: number('seed', {min: 0, max: Number.MAX_SAFE_INTEGER, integer: true}),
  stop: strings('stop'),
  ignoreEos: ofType('ignoreEos', 'boolean'),
  think: ofType('think', 'boolean'),
  parseSpecial: ofType('parseSpecial', 'boolean'),
  heal: ofType('heal', 'boolean'),
  speculate: number('speculate', {min: 0, max: 63, integer: true}),
  keepPastContext: number('keepPastContext', {min: -1, integer: true}),
  jsonSchema: schema('jsonSchema'),
  json: ofType('json', 'boolean'),
  grammar: ofType('grammar', 'string'),
  ebnf: ofType('ebnf', 'string'),
  structuralTag: jsonObject('structuralTag', 'a structural tag'),
  regex: ofType('regex', 'string'),
  tools: list('tools'),
  toolChoice: ofType('toolChoice', 'string'),
  parallelToolCalls: ofType('parallelToolCalls', 'boolean'),
  logitProcessor: logitProcessor('logitProcessor'),
  signal: any,
};

function check(what, table, given) {
  if (typeof given !== 'object' || given === null) refuse(`the options of ${what}`, given, 'an object');
  const checked = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    if (!Object.hasOwn(table, name)) {
      throw new InvalidArgumentError(`${what} has no option '${name}'; there are ${Object.keys(table).join(', ')}`);
    }
    checked[name] = table[name](value);
  }
  return checked;
}

/** @returns {object} the options of Tern.load */
export function checkLoadOptions(given = {}) {
  return {hub: 'https://huggingface.co', storage: true, ...check('Tern.load', kLoad, given)};
}

/**
 * What Tern.load is to load.
 * @param {string | URL | object} source
 * @param {string} base what relative addresses are relative to
 * @returns {{where: string} | {files: Record<string, Blob | Uint8Array>}}
 */
export function checkSource(source, base) {
  if (typeof source === 'string' || source instanceof URL) {
    const text = String(source).trim();
    if (text === '') throw new InvalidArgumentError('Tern.load: the address of the model is empty');
    if (text.startsWith('hf:')) {
      shapeOf(text);
      return {where: text};
    }
    let url;
    try {
      url = new URL(text, base);
    } catch {
      throw new InvalidArgumentError(`Tern.load: ${JSON.stringify(text)} is no address; ` +
        'name a URL, hf:OWNER/NAME or a File');
    }
    if (!['http:', 'https:', 'blob:', 'data:', 'file:', 'kept:'].includes(url.protocol)) {
      throw new NotSupportedError(`Tern.load: addresses that begin with ${url.protocol} cannot be loaded; use https:`);
    }
    url.hash = '';
    return {where: url.href};
  }
  const files = filesOf(source);
  if (files) return {files};
  throw new InvalidArgumentError('Tern.load wants an address, hf:OWNER/NAME, a File or Blob, several Files, or bytes');
}

function isMessage(one) {
  if (typeof one !== 'object' || one === null || typeof one.role !== 'string') return false;
  return typeof one.content === 'string' || Array.isArray(one.tool_calls);
}

/** What the reply is held to. @returns {{kind: string, text: string} | undefined} */
function formOf({json, ...texts}) {
  const forms = Object.entries(texts).filter(([, text]) => text !== undefined);
  if (json) forms.push(['json', '']);
  if (forms.length > 1) {
    throw new InvalidArgumentError(`generate: ${forms.map(([name]) => name).join(' and ')} are given; one is possible`);
  }
  return forms.length > 0 ? {kind: forms[0][0], text: forms[0][1]} : undefined;
}

/** What is said of tools; undefined: nothing. */
function turnOf(input, {tools = [], toolChoice = 'auto', parallelToolCalls = true, think, parseSpecial = false}) {
  const isAbout = ({role, tool_calls: calls}) => role === 'tool' || Array.isArray(calls);
  const isChat = Array.isArray(input) && input.length > 0 && input.every(isMessage);
  if (tools.length === 0 && toolChoice === 'auto' && !(isChat && input.some(isAbout))) return undefined;
  if (!isChat) throw new InvalidArgumentError('generate: tools are for messages [{role, content}, …]');
  const isName = !['auto', 'none', 'required'].includes(toolChoice);
  return {
    messages: input,
    tools: JSON.stringify(tools),
    toolChoice: isName ? 'required' : toolChoice,
    parallel: parallelToolCalls,
    ...(isName ? {toolName: toolChoice} : {}),
    ...(think === undefined ? {} : {think}),
    ...(parseSpecial ? {parseSpecial} : {}),
  };
}

/**
 * The parameters of a generation, for the engine.
 * @param {string | {role: string, content: string}[] | ArrayLike<number>} input
 * @param {object} options
 * @returns {object} complete but for the signal, and for sampling: what is not given is as the model's makers recommend
 */
export function generateParams(input, options = {}) {
  const {
    signal: _, jsonSchema, json, grammar, ebnf, structuralTag, regex, tools, toolChoice, parallelToolCalls, ...given
  } = check('generate', kGenerate, options);
  const form = formOf({jsonSchema, json, grammar, ebnf, structuralTag, regex});
  const turn = turnOf(input, {tools, toolChoice, parallelToolCalls, ...given});
  const params = {
    maxTokens: -1,
    seed: Math.floor(Math.random() * 2 ** 32),
    stop: [],
    ignoreEos: false,
    ...(form ? {form} : {}),
    ...(turn ? {turn} : {}),
    ...given,
  };
  if (typeof input === 'string') return {heal: true, ...params, prompt: input};
  if (ArrayBuffer.isView(input) || (Array.isArray(input) && typeof input[0] === 'number')) {
    return {...params, tokens: checkTokens(input)};
  }
  if (Array.isArray(input) && input.length > 0 && input.every(isMessage)) {
    return {...params, messages: input.map(({role, content}) => ({role, content: content ?? ''}))};
  }
  throw new InvalidArgumentError('generate wants a text to continue, messages [{role, content}, …] or token ids');
}

/** @returns {number[]} */
export function checkTokens(tokens) {
  const list = Array.from(tokens ?? []);
  if (list.length > 0 && list.every((id) => Number.isInteger(id) && id >= 0)) return list;
  throw new InvalidArgumentError('token ids are whole numbers from 0 on, and at least one is needed');
}
