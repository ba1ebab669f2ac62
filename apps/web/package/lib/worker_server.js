// The worker's side: requests come in as messages {id, method, params}, go out as {id, result} or {id, error}, and what
// happens on the way as {id, event}.

import {asTernError, toPlain} from './errors.js';
import {Runner} from './runner.js';

/**
 * @param {{postMessage: (message: object) => void, addEventListener: Function}} port
 * @param {import('./environment.js').Environment} env
 */
export function serve(port, env) {
  const runner = new Runner(env);
  const aborts = new Map();

  const methods = {
    load: ({source, options, wantsLog}, {signal, event}) => runner.load(source, options, {
      signal,
      onProgress: event,
      onLog: wantsLog ? (log) => event({log}) : undefined,
      onThreads: (threads) => event({threads}),
    }),
    generate: ({params}, {event}) => runner.generate(params, event),
    keep: (_, {signal, event}) => runner.keep({signal, onProgress: event}),
    call: ({method, params}) => runner.call(method, params),
    close: () => runner.close(),
  };

  port.addEventListener('message', async ({data: {id, method, params, cancel, abort}}) => {
    if (cancel) return runner.cancel();
    if (abort !== undefined) return aborts.get(abort)?.abort();
    const control = new AbortController();
    aborts.set(id, control);
    const event = (what) => port.postMessage({id, event: what});
    try {
      port.postMessage({id, result: await methods[method](params, {signal: control.signal, event})});
    } catch (error) {
      port.postMessage({id, error: toPlain(asTernError(error)), isDead: runner.isDead});
    } finally {
      aborts.delete(id);
    }
  });
  port.start?.();
  port.postMessage({ready: true});
}
