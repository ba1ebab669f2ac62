// Start here:
//
//   import {Tern} from 'tern-web';
//   const tern = await Tern.load('models/tern-stories.gguf');
//   for await (const piece of tern.generate('Once upon a time')) console.log(piece);

export {Tern} from './lib/tern.js';
export {
  BusyError, CancelledError, CorruptionError, DeviceLostError, InvalidArgumentError, IoError, NetworkError,
  NotFoundError, NotSupportedError, OutOfMemoryError, QuotaError, TernError, WorkerCrashedError,
} from './lib/errors.js';
