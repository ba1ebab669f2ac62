// What the package exports, wherever it runs.

export {Tern} from './tern.js';
export {
  BusyError, CancelledError, CorruptionError, DeviceLostError, IntegrityError, InvalidArgumentError, IoError,
  NetworkError, NotFoundError, NotSupportedError, OutOfMemoryError, QuotaError, TernError, WorkerCrashedError,
} from './errors.js';
