// Pages with the fake package for the tests of a file: opened, spoken to, closed, and without mistakes.

import assert from 'node:assert/strict';

import {inBrowser} from './browser.mjs';

export const kIdle = '[data-phase="ready"][data-chat="idle"]';

/**
 * @param {{before: Function, after: Function, afterEach: Function}} hooks of node:test
 * @returns {{here: {browser: object, site: object}, open: Function, mistakes: string[]}} open: a page with nothing
 *     stored, until the end of the test; mistakes: errors of pages, which fail the test
 */
export function pages({before, after, afterEach}) {
  const here = inBrowser({before, after});
  const contexts = [], mistakes = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    assert.deepEqual(mistakes.splice(0), []);
  });

  async function open(query = '', {ready = true, url = here.site.url, options = {}} = {}) {
    const context = await here.browser.newContext(
        {viewport: {width: 1280, height: 800}, serviceWorkers: 'block', ...options});
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => mistakes.push(error.message));
    page.on('console', (message) => message.type() === 'error' && mistakes.push(message.text()));
    await page.goto(`${url}?${query}&fake-load-ms=100`);
    if (ready) await page.waitForSelector(kIdle);
    return page;
  }
  return {here, open, mistakes};
}

/** Sends a message and waits for the end of its reply. */
export async function say(page, text) {
  await page.getByTestId('composer').fill(text);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${kIdle} .turn:last-child [data-testid="note"]:not(:empty)`);
}
