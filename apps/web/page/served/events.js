// The events of a stream, as servers send them (text/event-stream), out of bytes that come in pieces of any size.

/**
 * The data of each event. Ends where the bytes end; what is left of an event then was cut off and is no event.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<string>} leaving it lets go of the connection
 */
export async function* eventsIn(body) {
  const reader = body.getReader();
  const text = new TextDecoder();
  let rest = '';
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      const lines = (rest + text.decode(value, {stream: true})).split('\n');
      rest = lines.pop();
      for (const ended of lines) {
        const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
        if (line.startsWith('data:')) {
          data.push(line.slice(line[5] === ' ' ? 6 : 5));
        } else if (line === '' && data.length > 0) {
          yield data.join('\n');
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
