// One request for bytes of a file over the network: ranges, what can go wrong, and what each failure is called.

import {CancelledError, NetworkError, NotFoundError, throwIfAborted} from './errors.js';

const kAttempts = 6;
const kFirstAttempts = 4;  // before anything came: the address may simply be wrong
const kLongestWaitMs = 30_000;

/** A failure that trying again may cure. */
class Retry extends Error {
  constructor(error, waitMs) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}

/**
 * What a server says about the version of a file; empty strings where it does not, or hides it from other sites.
 * @typedef {{etag: string, lastModified: string}} Validator
 */

/** @returns {Validator} */
function validatorOf(headers) {
  return {etag: headers.get('etag') ?? '', lastModified: headers.get('last-modified') ?? ''};
}

/** Whether two validators are of different versions for certain. */
export function differs(before, now) {
  if (before.etag && now.etag) return before.etag !== now.etag;
  return Boolean(before.lastModified && now.lastModified && before.lastModified !== now.lastModified);
}

async function explainTypeError(env, url, error) {
  const host = new URL(url).host;
  if (env.navigator?.onLine === false) {
    return new NetworkError(`${url}: this device is offline; connect it and try again`, {cause: error});
  }
  if (env.origin?.startsWith('https:') && url.startsWith('http:')) {
    const message = `${url}: pages that come by https may not read from http; use the address with https`;
    return Object.assign(new NetworkError(message, {cause: error}), {isFinal: true});
  }
  if (env.origin && new URL(url).origin !== env.origin) {
    try {
      // Such a request may be sent to any site; only its answer stays hidden.
      await env.fetch(url, {method: 'HEAD', mode: 'no-cors', cache: 'no-store'});
      const message = `${url}: ${host} does not let pages of other sites read its files (CORS); ` +
        'download the model and open it as a file, or host it where CORS is allowed';
      return Object.assign(new NetworkError(message, {cause: error}), {isFinal: true});
    } catch {
      // Not reachable, or the page is cross-origin isolated, where such requests fail, too.
      const message = `${url}: ${host} cannot be reached, or does not let pages of other sites read its files ` +
        '(CORS); check the address, or download the model and open it as a file';
      return new NetworkError(message, {cause: error});
    }
  }
  const message = `${url}: ${host} cannot be reached; check the address and the connection`;
  return new NetworkError(message, {cause: error});
}

function waitOf(headers) {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? Math.min(seconds * 1000, kLongestWaitMs) : undefined;
}

function refuse(url, response) {
  const {status} = response;
  if (status === 404 || status === 410) {
    throw new NotFoundError(`${url}: there is no such file (HTTP ${status}); check the address`);
  }
  if (status === 401 || status === 403) {
    throw new NetworkError(`${url}: the server refuses access (HTTP ${status}); ` +
      'if the model needs an account, download it there and open it as a file');
  }
  const error = new NetworkError(`${url}: the server answers HTTP ${status}; try again later`);
  if (status >= 500 || status === 429 || status === 408) throw new Retry(error, waitOf(response.headers));
  throw error;
}

/**
 * Calls `attempt` until it succeeds, fails for good, or has failed too often without `progress()` moving.
 * @template T
 * @param {import('./environment.js').Environment} env
 * @param {{signal?: AbortSignal, progress?: () => number}} options
 * @param {() => Promise<T>} attempt throws a Retry for what may pass
 * @returns {Promise<T>}
 */
export async function withRetries(env, {signal, progress = () => 0}, attempt) {
  let failures = 0;
  let before = progress();
  for (;;) {
    throwIfAborted(signal);
    try {
      return await attempt();
    } catch (error) {
      throwIfAborted(signal);
      if (!(error instanceof Retry)) throw error;
      if (progress() > before) failures = 0;
      before = progress();
      if (++failures >= (before > 0 ? kAttempts : kFirstAttempts)) throw error.error;
      await env.sleep(error.waitMs ?? 250 * 2 ** failures, signal);
    }
  }
}

/**
 * The first answer to a request for a file from `begin` on. Servers that know ranges announce the whole size; browsers
 * ask for uncompressed bytes when a range is wanted, so sizes are those of the file.
 * @param {import('./environment.js').Environment} env
 * @param {string} url
 * @param {{begin?: number, end?: number, validator?: Validator, signal?: AbortSignal}} options `end`: one past the last
 *   byte wanted; `validator`: the version that bytes are wanted of
 * @returns {Promise<{begin: number, size: number | null, ranges: boolean, validator: Validator, changed: boolean,
 *   body: AsyncGenerator<Uint8Array>, stop: () => void}>} `begin`: where the body begins, 0 where ranges are not known;
 *   `size`: of the whole file; `changed`: it is not the version wanted any more. Throws Retry (for withRetries),
 *   NotFoundError, NetworkError, CancelledError.
 */
export async function openRange(env, url, {begin = 0, end, validator, signal} = {}) {
  throwIfAborted(signal);
  const control = new AbortController();
  const stop = () => control.abort();
  signal?.addEventListener('abort', stop, {once: true});
  const finish = () => {
    signal?.removeEventListener('abort', stop);
    stop();
  };
  const headers = {range: `bytes=${begin}-${end === undefined ? '' : end - 1}`};
  // Other sites would have to allow this header; there the answer's headers are compared instead.
  const sameSite = !env.origin || new URL(url).origin === env.origin;
  const version = validator?.etag && !validator.etag.startsWith('W/') ? validator.etag : validator?.lastModified;
  if (sameSite && version && begin > 0) headers['if-range'] = version;

  try {
    const ask = (init) => env.fetch(url, {...init, signal: control.signal, cache: 'no-store'});
    let response;
    try {
      response = await ask({headers});
      if (response.status === 416 && begin === 0) response = await ask({});
    } catch (error) {
      throwIfAborted(signal);
      const explained = await explainTypeError(env, url, error);
      throwIfAborted(signal);
      throw explained.isFinal || env.navigator?.onLine === false ? explained : new Retry(explained);
    }
    const now = validatorOf(response.headers);
    const common = {validator: now, stop: finish};
    if (response.status === 416) {
      finish();
      return {...common, begin, size: null, ranges: true, changed: true, body: (async function* () {})()};
    }
    if (!response.ok) refuse(url, response);

    const isPart = response.status === 206;
    const size = isPart ? sizeOfPart(response.headers, begin, end) : sizeOfWhole(response.headers);
    return {
      ...common,
      begin: isPart ? begin : 0,
      size,
      ranges: isPart,
      changed: Boolean(validator && differs(validator, now)),
      body: chunks(env, url, response, {signal, control, finish}),
    };
  } catch (error) {
    finish();
    throw error;
  }
}

function sizeOfPart(headers, begin, end) {
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '');
  if (total) return Number(total[1]);
  // Content-Range may be hidden from other sites, Content-Length never is.
  const length = headers.get('content-length');
  return length !== null && end === undefined ? begin + Number(length) : null;
}

function sizeOfWhole(headers) {
  // The length is that of the compressed bytes, which never get here.
  const encoding = headers.get('content-encoding');
  const length = headers.get('content-length');
  return length !== null && (!encoding || encoding === 'identity') ? Number(length) : null;
}

async function* chunks(env, url, response, {signal, control, finish}) {
  const reader = response.body.getReader();
  try {
    for (;;) {
      const {done, value} = await readOrStall(env, url, reader, control);
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (signal?.aborted) throw new CancelledError('stopped on request', {cause: signal.reason});
    if (error instanceof Retry) throw error;
    throw new Retry(new NetworkError(`${url}: the connection broke; try again, the download goes on where it stopped`,
      {cause: error}));
  } finally {
    finish();
    reader.cancel().catch(() => {});
  }
}

async function readOrStall(env, url, reader, control) {
  let timer;
  const stalled = new Promise((_, reject) => {
    timer = setTimeout(() => {
      const message = `${url}: the server sent nothing for ${env.stallMs / 1000} s; try again later`;
      reject(new Retry(new NetworkError(message)));
      control.abort();
    }, env.stallMs);
  });
  try {
    return await Promise.race([reader.read(), stalled]);
  } finally {
    clearTimeout(timer);
  }
}

/** A cut that shows only in what is missing at the end. */
export function cutShort(url, got, wanted) {
  const message = `${url}: the connection ended after ${got} of ${wanted} bytes; try again`;
  return new Retry(new NetworkError(message));
}

/**
 * A small text file.
 * @returns {Promise<string>}
 */
export function fetchText(env, url, {signal, atMost = 32 << 20} = {}) {
  return withRetries(env, {signal}, async () => {
    const {body, size} = await openRange(env, url, {signal});
    const parts = [];
    let n = 0;
    for await (const chunk of body) {
      parts.push(chunk);
      n += chunk.length;
      if (n > atMost) throw new NetworkError(`${url}: more than ${atMost} bytes, so it is not the file expected there`);
    }
    if (size !== null && n < size) throw cutShort(url, n, size);
    return new Blob(parts).text();
  });
}
