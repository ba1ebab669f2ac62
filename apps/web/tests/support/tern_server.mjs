// `tern serve`, the built one, as a process of its own.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {kProgram} from './project.mjs';

export class TernServer {
  /** "http://127.0.0.1:8080/" */
  url;
  #child;

  /** @param {string[]} args of `tern serve` @param {number} [port] 0: any that is free */
  static async start(args = [], port = 0) {
    const server = new TernServer();
    server.#child = spawn(kProgram, ['serve', '--port', String(port), ...args], {stdio: ['ignore', 'inherit', 'pipe']});
    let said = '';
    server.#child.stderr.on('data', (piece) => {
      said += piece;
    });
    while (!said.includes('until Ctrl-C')) {
      const {done} = await Promise.race([once(server.#child.stderr, 'data').then(() => ({})),
        once(server.#child, 'exit').then(() => ({done: true}))]);
      if (done) throw new Error(`tern serve did not start: ${said}`);
    }
    server.url = /http:\/\/[^/\s]+\//.exec(said)[0];
    return server;
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  /** @param {NodeJS.Signals} [signal] SIGKILL: as if the machine had lost its power */
  async end(signal = 'SIGTERM') {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill(signal);
    await once(this.#child, 'exit');
  }

  /** The JSON of an answer. @param {string} path @param {object} [body] to be posted */
  async ask(path, body, headers = {}) {
    const response = await fetch(new URL(path, this.url),
      {headers, ...(body ? {method: 'POST', body: JSON.stringify(body)} : {})});
    return response.json();
  }
}
