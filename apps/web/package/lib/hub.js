// Models by their names on Hugging Face: which files of a repository to take. The same choice as `tern pull` makes.

import {InvalidArgumentError, NotFoundError} from './errors.js';
import {fetchText} from './http.js';
import {baseName, splitName, splitParts} from './text.js';

// The formats that Tern reads as they lie in the file come first.
const kPreferred = ['i2_s', 'q1_0', 'q2_0', 'tq2_0', 'tq1_0'];
const kMaxListed = 12;

/**
 * @param {string} text hf:OWNER/NAME, then @REVISION, then /FILE or :FILE, where after a colon a part of the file's
 *   name is enough; or the address of a model's page
 * @returns {{repository: string, revision: string, file: string} | null} null: it is no such name
 */
export function parseHubName(text) {
  const page = /^https:\/\/huggingface\.co\/([\w.-]+\/[\w.-]+)\/?(?:tree\/([^/?#]+)\/?)?$/.exec(text);
  if (page) return {repository: page[1], revision: page[2] ?? 'main', file: ''};
  if (!text.startsWith('hf:')) return null;
  const name = /^hf:(?:\/\/)?([\w.-]+\/[\w.-]+)(?:@([^/:]+))?(?:[/:](.+))?$/.exec(text);
  if (!name) {
    throw new InvalidArgumentError(`${text}: a model on Hugging Face is named hf:OWNER/NAME or hf:OWNER/NAME/FILE`);
  }
  return {repository: name[1], revision: name[2] ?? 'main', file: name[3] ?? ''};
}

/** GGUF files of a repository, one for all parts of a split one. */
function candidatesOf(paths) {
  const isCompanion = (path) => /^mmproj|imatrix/i.test(baseName(path));
  return paths.filter((path) => /\.gguf$/i.test(path) && !isCompanion(path) && splitName(path).part === 1).sort();
}

/** Whether a name has a tag such as q2_0, with nothing before it that would make it another. */
function hasTag(path, tag, whole) {
  return new RegExp(`(^|[^a-z0-9_])${tag}(?![a-z0-9${whole ? '_' : ''}])`).test(path.toLowerCase());
}

function listOf(candidates) {
  const more = candidates.length - kMaxListed;
  return candidates.slice(0, kMaxListed).map(baseName).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** @returns {string} the one of several; '' for a repository without GGUF files */
function choose(candidates, wanted, source) {
  if (wanted) {
    const text = wanted.toLowerCase();
    const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const ways = [
      (path) => path.toLowerCase() === text || path.toLowerCase() === `${text}.gguf`,
      (path) => hasTag(path, escaped, true),
      (path) => hasTag(path, escaped, false),
      (path) => path.toLowerCase().includes(text),
    ];
    for (const way of ways) {
      const found = candidates.filter(way);
      if (found.length === 1) return found[0];
      if (found.length > 1) {
        throw new NotFoundError(`${source}: several files fit '${wanted}': ${listOf(found)}; name one of them`);
      }
    }
    throw new NotFoundError(`${source}: there is no file '${wanted}'; ` +
      (candidates.length ? `there are ${listOf(candidates)}` : 'nor any GGUF file'));
  }
  if (candidates.length <= 1) return candidates[0] ?? '';
  for (const tag of kPreferred) {
    for (const whole of [true, false]) {
      const found = candidates.filter((path) => hasTag(path, tag, whole));
      if (found.length === 1) return found[0];
      if (found.length > 1) break;  // several of a kind: only the caller can tell
    }
  }
  throw new NotFoundError(`${source}: several models to choose from: ${listOf(candidates)}; ` +
    `name one as ${source}/FILE`);
}

/**
 * @param {import('./environment.js').Environment} env
 * @param {{repository: string, revision: string, file: string}} name
 * @param {{signal?: AbortSignal, hub: string}} options
 * @returns {Promise<{entry: string, files: {path: string, size?: number}[]}>} `entry` '': a folder, of which `files` is
 *   everything
 */
export async function chooseOnHub(env, {repository, revision, file}, {signal, hub}) {
  const source = `hf:${repository}`;
  if (/\.gguf$/i.test(file)) return {entry: splitParts(file)[0], files: splitParts(file).map((path) => ({path}))};
  const url = `${hub}/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
  let listing;
  try {
    listing = JSON.parse(await fetchText(env, url, {signal}));
  } catch (error) {
    if (!(error instanceof NotFoundError) && !(error instanceof SyntaxError)) throw error;
    throw new NotFoundError(`${source}: there is no such model, or no revision ${revision} of it; check the name`);
  }
  const siblings = (Array.isArray(listing?.siblings) ? listing.siblings : []).filter((one) => one?.rfilename);
  const sizes = new Map(siblings.map((one) => [one.rfilename, one.size]));
  const entry = choose(candidatesOf([...sizes.keys()]), file, source);
  const paths = entry === '' ? [...sizes.keys()].filter((path) => !path.includes('/')) : splitParts(entry);
  const missing = paths.filter((path) => !sizes.has(path));
  if (missing.length > 0) {
    throw new NotFoundError(`${source}: of ${baseName(entry)}, ` +
      `${missing.length} of ${paths.length} parts are missing there`);
  }
  return {entry, files: paths.map((path) => ({path, size: sizes.get(path)}))};
}
