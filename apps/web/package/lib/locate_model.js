// From what a caller names to the files that make the model: a GGUF file and its other parts, the directories of
// Hugging Face and MLC, names on Hugging Face.

import {CorruptionError, InvalidArgumentError, NotFoundError} from './errors.js';
import {fetchText} from './http.js';
import {chooseOnHub, parseHubName} from './hub.js';
import {baseName, splitParts} from './text.js';

/**
 * @typedef {object} Located
 * @property {string} name for people
 * @property {string} entry what the engine opens: a file's path, or '' for the folder
 * @property {{path: string, url: string, kind: string, sizeHint?: number, optional?: boolean}[]} files
 */

const kDescriptions = ['config.json', 'mlc-chat-config.json', 'model.safetensors', 'model.safetensors.index.json',
  'tensor-cache.json', 'ndarray-cache.json'];
const kTokenizers = ['tokenizer.json', 'tokenizer_config.json'];

/** @returns {'gguf' | 'json' | 'safetensors' | 'other'} what a file's first bytes are to be checked for */
export function kindOf(path) {
  const end = /\.(gguf|json|safetensors)$/i.exec(path);
  return end ? end[1].toLowerCase() : 'other';
}

/** `path` beside or below `base`, with the base's query, which may hold an access key. */
function beside(base, path) {
  const url = new URL(path.split('/').map(encodeURIComponent).join('/'), base);
  url.search = new URL(base).search;
  return url.href;
}

/**
 * @param {string} where an absolute address, or hf:OWNER/NAME[@REVISION][/FILE or :PART_OF_A_NAME]
 * @returns {'hub' | 'file' | 'folder' | 'either'} what it names, as far as it tells by itself
 */
export function shapeOf(where) {
  if (parseHubName(where)) return 'hub';
  const {pathname} = new URL(where);
  const name = decodeURIComponent(baseName(pathname));
  if (pathname.endsWith('/') || kDescriptions.includes(name)) return 'folder';
  return /\.[a-z0-9]+$/i.test(name) ? 'file' : 'either';
}

/**
 * Finds out which files a model has.
 * @param {import('./environment.js').Environment} env
 * @param {string} where see shapeOf
 * @param {{signal?: AbortSignal, hub: string}} options `hub`: https://huggingface.co or a host that speaks like it
 * @returns {Promise<Located>}
 */
export async function locateModel(env, where, {signal, hub}) {
  if (where.startsWith('kept:')) {
    const name = decodeURIComponent(where.slice('kept:'.length).split('?')[0]);
    throw new NotFoundError(`${name} is not kept in this browser any more; choose its files again`);
  }
  const shape = shapeOf(where);
  if (shape === 'hub') return locateOnHub(env, parseHubName(where), {signal, hub});
  if (shape === 'file') return locateFile(where);
  const folder = new URL(where);
  if (shape === 'folder') {
    folder.pathname = folder.pathname.replace(/[^/]*$/, '');
    return locateFolder(env, folder.href, {signal});
  }
  folder.pathname += '/';
  try {
    return await locateFolder(env, folder.href, {signal});
  } catch (error) {
    if (error instanceof NotFoundError) return locateFile(where);
    throw error;
  }
}

function locateFile(url) {
  const name = decodeURIComponent(baseName(new URL(url).pathname)) || 'model';
  if (kindOf(name) === 'json') {
    throw new InvalidArgumentError(`${url}: name the model's folder (ending in /) or its GGUF file, not this file`);
  }
  const files = splitParts(name).map((path) => ({path, url: path === name ? url : beside(url, path), kind: 'gguf'}));
  return {name, entry: files[0].path, files};
}

async function locateOnHub(env, name, {signal, hub}) {
  const {files, entry} = await chooseOnHub(env, name, {signal, hub});
  if (entry === '') {
    // Which weights belong is in the model's own index.
    const base = `${hub}/${name.repository}/resolve/${name.revision}/`;
    const listed = new Set(files.map((file) => file.path));
    const located = await locateFolder(env, base, {signal, has: (path) => listed.has(path)});
    return {...located, name: name.repository};
  }
  const located = files.map(({path, size}) => ({
    path: baseName(path),
    url: beside(`${hub}/${name.repository}/resolve/${name.revision}/`, path),
    kind: 'gguf',
    ...(size ? {sizeHint: size} : {}),
  }));
  return {name: baseName(entry), entry: baseName(entry), files: located};
}

/** Tries names in turn; null where the folder has none of them. */
async function firstText(env, base, names, {signal, has}) {
  for (const name of names) {
    if (has && !has(name)) continue;
    try {
      const url = beside(base, name);
      const text = await fetchText(env, url, {signal});
      return {name, json: JSON.parse(text)};
    } catch (error) {
      // Hosts that answer everything with a page have no such file either.
      if (!(error instanceof NotFoundError) && !(error instanceof SyntaxError)) throw error;
    }
  }
  return null;
}

async function locateFolder(env, base, {signal, has}) {
  const options = {signal, has};
  const parts = new URL(base).pathname.split('/').filter(Boolean);
  const name = decodeURIComponent(parts.at(-1) ?? new URL(base).host);
  const config = await firstText(env, base, ['mlc-chat-config.json', 'config.json'], options);
  if (!config) {
    throw new NotFoundError(`${base}: there is neither mlc-chat-config.json nor config.json, so this is no folder of ` +
      'a model; name one, or a GGUF file');
  }
  const file = (path, more = {}) => {
    return {path: safePath(base, path), url: beside(base, path), kind: kindOf(path), ...more};
  };
  const isThere = (path) => !has || has(path);
  const optional = (paths) => paths.filter(isThere).map((path) => file(path, {optional: true}));

  if (config.name === 'mlc-chat-config.json') {
    const index = await firstText(env, base, ['tensor-cache.json', 'ndarray-cache.json'], options);
    if (!Array.isArray(index?.json?.records)) {
      throw new NotFoundError(`${base}: there is no tensor-cache.json or ndarray-cache.json, which list the ` +
        'weights; the folder is incomplete');
    }
    const shards = index.json.records.map(({dataPath, nbytes}) => {
      return file(String(dataPath), {sizeHint: Number(nbytes) || 0});
    });
    return {name, entry: '', files: [file(config.name), file(index.name), ...optional(kTokenizers), ...shards]};
  }

  const index = await firstText(env, base, ['model.safetensors.index.json'], options);
  const map = index?.json?.weight_map;
  const weights = map && typeof map === 'object' ? [...new Set(Object.values(map).map(String))] : ['model.safetensors'];
  const hint = Math.floor((Number(index?.json?.metadata?.total_size) || 0) / weights.length);
  return {
    name,
    entry: '',
    files: [
      file(config.name),
      ...(index ? [file(index.name)] : []),
      ...optional([...kTokenizers, 'generation_config.json', 'chat_template.jinja']),
      ...weights.map((path) => file(path, hint ? {sizeHint: hint} : {})),
    ],
  };
}

/** Names come from a file of the model; one that leads elsewhere is refused. */
function safePath(base, path) {
  if (path && !path.startsWith('/') && !path.includes('\\') && !/(^|\/)\.\.?(\/|$)/.test(path)) return path;
  throw new CorruptionError(`${base}: the model's index names a file ${JSON.stringify(path)}, which cannot be right`);
}
