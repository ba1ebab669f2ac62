// What is thrown.

export type ErrorCode =
  | 'not_found' | 'corruption' | 'not_supported' | 'invalid_argument' | 'out_of_memory' | 'device_lost' | 'io'
  | 'network' | 'quota' | 'cancelled' | 'worker_crashed' | 'busy' | 'internal';

/** The message is one line: what, where, what to do. */
export class TernError extends Error {
  readonly code: ErrorCode;
}
export class NotFoundError extends TernError {}
export class CorruptionError extends TernError {}
/** Not the file that `integrity` asks for. */
export class IntegrityError extends CorruptionError {
  constructor(url: string, expected: string, actual: string);
  readonly url: string;
  readonly expected: string;
  readonly actual: string;
}
export class NotSupportedError extends TernError {}
export class InvalidArgumentError extends TernError {}
export class OutOfMemoryError extends TernError {}
export class DeviceLostError extends TernError {}
export class IoError extends TernError {}
export class NetworkError extends TernError {}
export class QuotaError extends TernError {}
export class CancelledError extends TernError {}
export class WorkerCrashedError extends TernError {}
export class BusyError extends TernError {}
