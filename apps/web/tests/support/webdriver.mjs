// WebKitGTK by WebDriver: as much of Playwright's interface as the tests of the package use.

import {spawn} from 'node:child_process';
import net from 'node:net';

async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A command of the protocol; its value. */
async function ask(url, method = 'GET', body = undefined) {
  const signal = AbortSignal.timeout(150_000);
  const response = await fetch(url, {method, signal, ...(body ? {body: JSON.stringify(body)} : {})});
  const {value} = await response.json();
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

class Page {
  #session;

  constructor(session) {
    this.#session = session;
  }

  setDefaultTimeout() {}

  on() {}

  goto(url) {
    return ask(`${this.#session}/url`, 'POST', {url});
  }

  /** What the function gives in the page; arguments and results as JSON has them. */
  async evaluate(fn, argument) {
    const script = `const done = arguments[1];
      Promise.resolve((${fn})(JSON.parse(arguments[0]).argument))
        .then((value) => done(JSON.stringify({value})), (error) => done(JSON.stringify({thrown: String(error)})));`;
    const text = await ask(`${this.#session}/execute/async`, 'POST', {script, args: [JSON.stringify({argument})]});
    const {value, thrown} = JSON.parse(text);
    if (thrown !== undefined) throw new Error(thrown);
    return value;
  }
}

/**
 * MiniBrowser, which the program starts, gets a display of Xvfb's where there is none.
 * @param {string} program WebKitWebDriver
 */
export async function launchWebKit(program) {
  const port = await freePort();
  const command = [...(process.env.DISPLAY ? [] : ['xvfb-run', '-a']), program, `--port=${port}`];
  const child = spawn(command[0], command.slice(1), {stdio: 'ignore', detached: true});
  const failed = new Promise((_, reject) => child.on('error', reject));
  failed.catch(() => {});
  const driver = `http://127.0.0.1:${port}`;
  for (let i = 0; ; ++i) {
    const status = await Promise.race([ask(`${driver}/status`).catch(() => null), failed]);
    if (status) break;
    if (i === 100) throw new Error(`${program} does not answer`);
    await new Promise((go) => setTimeout(go, 100));
  }
  const {sessionId} = await ask(`${driver}/session`, 'POST', {capabilities: {alwaysMatch: {
    timeouts: {script: 120_000},
    ...(process.env.TERN_MINIBROWSER ?
      {'webkitgtk:browserOptions': {binary: process.env.TERN_MINIBROWSER, args: ['--automation']}} : {}),
  }}});
  const session = `${driver}/session/${sessionId}`;
  return {
    newContext: async () => ({newPage: async () => new Page(session), close: async () => {}}),
    close: async () => {
      await ask(session, 'DELETE').catch(() => {});
      process.kill(-child.pid);
    },
  };
}
