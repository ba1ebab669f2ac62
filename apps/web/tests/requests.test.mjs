// The ten requests of tests/golden/ten_requests.json, asked in the tab as they are asked natively.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {launch} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {kGoldens, kSite, needSite} from './support/project.mjs';

const {conversations} = JSON.parse(fs.readFileSync(path.join(kGoldens, 'ten_requests.json'), 'utf8'));

let server;
let browser;
let tab;

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  browser = await launch();
  tab = await PackageTab.open(await browser.newContext(), server);
});
after(async () => {
  await browser?.close();
  await server?.down();
});

describe('ten requests to the default model, in the tab', () => {
  before(() => tab.load('models/tern-stories.gguf', {backend: 'cpu'}));
  after(() => tab.close());

  for (const requests of conversations) {
    test(requests.map(({ask}) => ask).join(' '), async () => {
      const messages = [];
      for (const {ask, says = [], never = [], words} of requests) {
        messages.push({role: 'user', content: ask});
        const {text, stats} = await tab.generate(messages, {temperature: 0});
        const n = text.trim().split(/\s+/).length;
        assert.ok(n >= words[0] && n <= words[1], `${ask}: ${n} words: ${text}`);
        for (const pattern of says) assert.match(text, new RegExp(pattern, 'i'), ask);
        for (const pattern of never) assert.doesNotMatch(text, new RegExp(pattern, 'i'), ask);
        assert.equal(stats.finishReason, 'stop_token', ask);
        messages.push({role: 'assistant', content: text});
      }
    });
  }
});
