// Chromium without a window, as the tests want it.

import {findChromium} from './find_browsers.mjs';
import {chromium} from './playwright.mjs';

const kExecutable = findChromium();
// The bundled software device is offered only where WebGPU is asked for like this.
const kWebGpu = ['--enable-unsafe-webgpu'];
const kQuiet = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** @param {{webGpu?: boolean, args?: string[]}} [options] */
export async function launch({webGpu = true, args = []} = {}) {
  if (!kExecutable) throw new Error('Chromium is not installed; ./setup --checks installs it');
  return chromium.launch({executablePath: kExecutable, args: [...kQuiet, ...(webGpu ? kWebGpu : []), ...args]});
}

/**
 * A tab whose mistakes are kept: uncaught errors, and what the console calls one.
 * @param {import('playwright-core').BrowserContext} context
 * @returns {Promise<import('playwright-core').Page & {mistakes: string[]}>}
 */
export async function openPage(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.mistakes = [];
  page.on('pageerror', (error) => page.mistakes.push(String(error?.stack ?? error)));
  page.on('console', (message) => {
    if (process.env.TERN_VERBOSE) console.error(`[${message.type()}] ${message.text()}`);
    // That a server says no is what many tests are about, and that the GPU is a slow one is true here.
    const isKnown = /Failed to load resource|tern: warning: no GPU found/.test(message.text());
    const isMistake = message.type() === 'error' && !isKnown;
    if (isMistake) page.mistakes.push(message.text());
  });
  return page;
}

/** The state of a page's promise-like poll: calls `read` until `accept` likes what it gives. */
export async function until(read, accept, {what, timeout = 30_000, every = 50}) {
  const deadline = performance.now() + timeout;
  let value;
  for (;;) {
    value = await read();
    if (accept(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${timeout / 1000} s; last: ${JSON.stringify(value)}`);
    }
    await new Promise((go) => setTimeout(go, every));
  }
}

/**
 * Until the function gives something true in the page. Playwright's waitForFunction makes code of a text there, which
 * the page's Content-Security-Policy forbids.
 * @param {import('playwright-core').Page} page
 */
export async function untilInPage(page, predicate, argument = undefined, {timeout = 30_000} = {}) {
  await until(() => page.evaluate(predicate, argument), Boolean, {what: String(predicate), timeout});
}
