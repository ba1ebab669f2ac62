// The chat page as a person uses it, found by its data-testid marks.

import {openPage, until} from './browser.mjs';

export class TernPage {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /** @param {import('playwright-core').BrowserContext} context @param {string} url */
  static async open(context, url) {
    const tab = new TernPage(await openPage(context));
    await tab.page.goto(url, {waitUntil: 'domcontentloaded'});
    return tab;
  }

  /** @param {string} id */
  by(id) {
    return this.page.getByTestId(id);
  }

  get lastReply() {
    return this.by('reply').last();
  }

  /** Until a model is there; fails at once with the page's own words where it shows an error. */
  async ready({timeout = 60_000} = {}) {
    await until(async () => ({error: await this.error(), chip: await this.by('model-chip').innerText(),
      loading: await this.by('progress').isVisible()}), ({error, chip, loading}) => {
      if (error) throw new Error(`the page says: ${error}`);
      return !loading && !/no model/.test(chip);
    }, {what: 'a model that is ready', timeout});
  }

  async error() {
    const place = this.by('error');
    return await place.isVisible() ? (await place.innerText()).trim() : '';
  }

  /** The page's words once it shows an error. */
  async waitForError() {
    await this.by('error').waitFor({state: 'visible'});
    return this.error();
  }

  async openPanel() {
    if (await this.by('panel-toggle').getAttribute('aria-expanded') !== 'true') await this.by('panel-toggle').click();
    await this.page.locator('#panel').waitFor();
  }

  /** Where models are chosen. */
  async openMenu() {
    if (!await this.by('model-menu').isVisible()) await this.by('model-chip').click();
    await this.by('model-menu').waitFor();
  }

  /** Sampling that gives the same text every time. */
  async greedy(maxTokens) {
    await this.openPanel();
    await this.by('setting-temperature').fill('0');
    await this.by('setting-max-tokens').fill(String(maxTokens));
    await this.by('setting-max-tokens').press('Tab');
  }

  async send(text) {
    await this.by('composer').fill(text);
    await this.by('composer').press('Enter');
  }

  /** Until the reply is over; its text. */
  async reply({timeout = 60_000} = {}) {
    await until(async () => ({error: await this.error(), writing: await this.by('stop').isVisible(),
      replies: await this.by('reply').count()}), ({error, writing, replies}) => {
      if (error) throw new Error(`the page says: ${error}`);
      return !writing && replies > 0;
    }, {what: 'a reply', timeout});
    return this.lastReply.textContent();
  }

  async say(text, options) {
    await this.send(text);
    return this.reply(options);
  }
}
