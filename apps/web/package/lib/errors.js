// Errors that callers see: a class and a code for who or what is at fault, and one line that says what, where and what
// to do. They cross the worker's boundary as plain objects and come out as the same class.

/**
 * @typedef {'not_found' | 'corruption' | 'not_supported' | 'invalid_argument' | 'out_of_memory' | 'device_lost' |
 *   'io' | 'network' | 'quota' | 'cancelled' | 'worker_crashed' | 'busy' | 'internal'} ErrorCode
 */

export class TernError extends Error {
  /**
   * @param {string} message one line: what, where, what to do
   * @param {{code?: ErrorCode, cause?: unknown}} [options]
   */
  constructor(message, {code = 'internal', cause} = {}) {
    super(message, cause === undefined ? undefined : {cause});
    /** @type {ErrorCode} */
    this.code = code;
    this.name = new.target.name;
  }
}

/** @type {Map<ErrorCode, typeof TernError>} */
const classes = new Map();

function errorClass(name, code) {
  const made = {
    [name]: class extends TernError {
      constructor(message, {cause} = {}) {
        super(message, {code, cause});
        this.name = name;  // a bundler may have renamed the class
      }
    },
  }[name];
  classes.set(code, made);
  return made;
}

/** A file, a model or an address that does not exist. */
export const NotFoundError = errorClass('NotFoundError', 'not_found');
/** Bytes that contradict their format, their checksum or what was announced. */
export const CorruptionError = errorClass('CorruptionError', 'corruption');
/** A file that is not what the caller's `integrity` says. */
export class IntegrityError extends CorruptionError {
  /**
   * @param {string} url of the file
   * @param {string} expected 'sha256-…'
   * @param {string} actual
   */
  constructor(url, expected, actual) {
    super(`${url}: its hash is ${actual}, but ${expected} was asked for; it is another file than expected`);
    Object.assign(this, {name: 'IntegrityError', url, expected, actual});
  }
}
/** Well-formed, but neither Tern nor this browser can do it. */
export const NotSupportedError = errorClass('NotSupportedError', 'not_supported');
/** The caller's argument is wrong. */
export const InvalidArgumentError = errorClass('InvalidArgumentError', 'invalid_argument');
/** The model or its context does not fit into memory, the tab's or the GPU's. */
export const OutOfMemoryError = errorClass('OutOfMemoryError', 'out_of_memory');
/** The GPU went away; loading again may help. */
export const DeviceLostError = errorClass('DeviceLostError', 'device_lost');
/** A file could not be read or written on this device. */
export const IoError = errorClass('IoError', 'io');
/** The server or the way to it. */
export const NetworkError = errorClass('NetworkError', 'network');
/** The browser grants this site too little storage. */
export const QuotaError = errorClass('QuotaError', 'quota');
/** The caller asked to stop. */
export const CancelledError = errorClass('CancelledError', 'cancelled');
/** The worker or the engine in it died; Tern.load again works. */
export const WorkerCrashedError = errorClass('WorkerCrashedError', 'worker_crashed');
/** Something else is using this now. */
export const BusyError = errorClass('BusyError', 'busy');

/**
 * An error of the class that belongs to a code.
 * @param {ErrorCode} code
 * @param {string} message
 * @param {unknown} [cause]
 * @returns {TernError}
 */
export function errorOf(code, message, cause) {
  const known = classes.get(code);
  return known ? new known(message, {cause}) : new TernError(message, {cause});
}

/** @returns {TernError} `error` itself, or what a stranger's error amounts to */
export function asTernError(error) {
  if (error instanceof TernError) return error;
  if (error?.name === 'AbortError') return new CancelledError('stopped on request', {cause: error});
  return new TernError(`something went wrong inside Tern: ${error?.message ?? error}`, {cause: error});
}

/** @returns {{code: ErrorCode, message: string, cause?: string, integrity?: string[]}} what can be cloned */
export function toPlain(error) {
  const tern = asTernError(error);
  const cause = tern.cause === undefined ? undefined : String(tern.cause?.stack ?? tern.cause);
  const {code, message, url, expected, actual} = tern;
  return {code, message, cause, ...(tern instanceof IntegrityError ? {integrity: [url, expected, actual]} : {})};
}

/** @returns {TernError} */
export function fromPlain({code, message, cause, integrity}) {
  if (integrity) return new IntegrityError(...integrity);
  return errorOf(code, message, cause);
}

/** Throws a CancelledError once `signal` is aborted. */
export function throwIfAborted(signal) {
  if (signal?.aborted) throw new CancelledError('stopped on request', {cause: signal.reason});
}
