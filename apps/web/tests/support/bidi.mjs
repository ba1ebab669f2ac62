// Firefox by WebDriver BiDi: as much of Playwright's interface as the tests of the package use.

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** One session: commands by number, over a web socket. */
class Session {
  #socket;
  #waiting = new Map();
  #nextId = 1;

  static async open(address) {
    const session = new Session();
    session.#socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => {
      session.#socket.onopen = resolve;
      session.#socket.onerror = () => reject(new Error(`${address}: Firefox takes no connection`));
    });
    session.#socket.onmessage = ({data}) => session.#receive(JSON.parse(data));
    session.#socket.onclose = () => {
      for (const {reject} of session.#waiting.values()) reject(new Error('Firefox ended'));
    };
    await session.send('session.new', {capabilities: {}});
    return session;
  }

  #receive({id, type, result, error, message}) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (type === 'error') waiting.reject(new Error(`${error}: ${message}`));
    else waiting.resolve(result);
  }

  send(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#socket.send(JSON.stringify({id, method, params}));
    });
  }

  close() {
    this.#socket.close();
  }
}

/** A tab. */
class Page {
  #session;
  #context;

  constructor(session, context) {
    this.#session = session;
    this.#context = context;
  }

  setDefaultTimeout() {}

  on() {}

  async goto(url) {
    await this.#session.send('browsingContext.navigate', {context: this.#context, url, wait: 'interactive'});
  }

  async setViewportSize(viewport) {
    await this.#session.send('browsingContext.setViewport', {context: this.#context, viewport});
  }

  async close() {
    await this.#session.send('browsingContext.close', {context: this.#context});
  }

  /** What the function gives in the page; arguments and results as JSON has them. */
  async evaluate(fn, argument) {
    const {result, exceptionDetails} = await this.#session.send('script.callFunction', {
      functionDeclaration: `async (given) => JSON.stringify({value: await (${fn})(JSON.parse(given).argument)})`,
      arguments: [{type: 'string', value: JSON.stringify({argument})}],
      awaitPromise: true,
      target: {context: this.#context},
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value).value;
  }

  async screenshot({path: file}) {
    const {data} = await this.#session.send('browsingContext.captureScreenshot', {context: this.#context});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }
}

const kPreferences = {
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.enabled': false,
  'browser.startup.homepage_override.mstone': 'ignore',
};

/** @param {{webGpu?: boolean, preferences?: Record<string, boolean | number | string>}} [options] */
export async function launchFirefox(program, {webGpu = false, preferences = {}} = {}) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-firefox-'));
  const all = {
    ...kPreferences, 'dom.webgpu.enabled': webGpu, 'dom.webgpu.workers.enabled': webGpu,
    'gfx.webgpu.ignore-blocklist': webGpu, ...preferences,
  };
  fs.writeFileSync(path.join(profile, 'user.js'), Object.entries(all)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
    {env: {...process.env, MOZ_DISABLE_CONTENT_SANDBOX: '1', HOME: profile}, detached: true});
  let words = '';
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const stop = async () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
    await ended;
    fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
  };
  const address = await new Promise((resolve, reject) => {
    const hear = (text) => {
      words += text;
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(words);
      if (found) resolve(found[1]);
    };
    child.stderr.on('data', hear);
    child.stdout.on('data', hear);
    child.on('error', reject);
    ended.then(() => reject(new Error(`${program} ended:\n${words}`)));
    setTimeout(() => reject(new Error(`${program} did not start within 60 s:\n${words}`)), 60_000).unref();
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  const session = await Session.open(address);
  const newPage = async () => {
    const {context} = await session.send('browsingContext.create', {type: 'tab'});
    return new Page(session, context);
  };
  return {
    newContext: async () => ({newPage, close: async () => {}}),
    close: async () => {
      session.close();
      await stop();
    },
  };
}
