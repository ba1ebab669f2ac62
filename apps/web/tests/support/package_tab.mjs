// A tab with the package and nothing else.

import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {openPage, untilInPage} from './browser.mjs';

const kHere = path.dirname(fileURLToPath(import.meta.url));

/** What the package threw in the tab. */
export class ThrownInTab extends Error {
  constructor({name, code, message, stack}) {
    super(message);
    Object.assign(this, {name, code, stackInTab: stack});
  }
}

export class PackageTab {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /**
   * @param {import('playwright-core').BrowserContext} context
   * @param {import('./fixture_server.mjs').FixtureServer} server of a site
   */
  static async open(context, server) {
    server.mount('blank.html', {from: path.join(kHere, 'blank.html'), type: 'text/html; charset=utf-8'});
    server.mount('ids_worker.js', {from: path.join(kHere, 'ids_worker.js'), type: 'text/javascript'});
    const tab = new PackageTab(await openPage(context));
    await tab.page.goto(`${server.url}blank.html`);
    await untilInPage(tab.page, () => globalThis.isReady);
    return tab;
  }

  /** What Tern.load makes of it: info. @param {string|{files: [string, string][]}} from see blank.html */
  load(from, options = {}) {
    return this.#call('load', from, options);
  }

  /** @returns {Promise<{pieces: string[], text: string, stats: object}>} */
  generate(prompt, options = {}) {
    return this.#call('generate', prompt, options);
  }

  /** @returns {Promise<{rows: number, columns: number, data: number[]}>} */
  logits(tokens) {
    return this.#call('logits', tokens);
  }

  /** Lets the model go. */
  close() {
    return this.#call('close');
  }

  /** Tern.models[method](...args) */
  models(method, ...args) {
    return this.#call('models', method, ...args);
  }

  /** What onProgress was told in the last load. */
  progress() {
    return this.page.evaluate(() => globalThis.progress);
  }

  /** Ids that a build of the engine chooses, in a worker of its own: see ids_worker.js. */
  async ids(options) {
    const {value, error} = await this.page.evaluate((data) => new Promise((resolve) => {
      const worker = new Worker('/ids_worker.js', {type: 'module'});
      const end = (result) => {
        worker.terminate();
        resolve(result);
      };
      worker.onmessage = ({data: result}) => end(result);
      worker.onerror = (event) => end({error: event.message});
      worker.postMessage(data);
    }), options);
    if (error) throw new Error(error);
    return value;
  }

  async #call(name, ...args) {
    const {value, error} = await this.page.evaluate(([f, given]) => globalThis[f](...given), [name, args]);
    if (error) throw new ThrownInTab(error);
    return value;
  }
}
