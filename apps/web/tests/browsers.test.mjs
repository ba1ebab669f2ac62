// The other browsers: each computes what the native program computes, stops, and keeps its model.

import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {launchFirefox} from './support/bidi.mjs';
import {findFirefox, findWebKit} from './support/find_browsers.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {kSite, needSite, storyWithoutTies} from './support/project.mjs';
import {launchWebKit} from './support/webdriver.mjs';

const kModel = 'models/tern-stories.gguf';

let server;
let story;

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  story = storyWithoutTies();
});
after(() => server?.down());

/** @type {{name: string, program?: string, launch: (program: string) => Promise<object>, ways: object}[]} */
const kBrowsers = [
  {name: 'Firefox', program: findFirefox(), launch: (program) => launchFirefox(program, {webGpu: true}),
    ways: {'the default': {}, 'one thread': {threads: 1, backend: 'cpu'}, 'WebGPU': {backend: 'webgpu'}}},
  {name: 'WebKit', program: findWebKit(), launch: launchWebKit, ways: {'the default': {}},
    // WebDriver's sessions are private ones, in which WebKit forgets a cache that nobody has open.
    forgets: true},
];

for (const {name, program, launch, ways, forgets} of kBrowsers) {
  describe(name, {skip: program ? false : `${name} is not installed`}, () => {
    let browser;
    let tab;

    before(async () => {
      browser = await launch(program);
      tab = await PackageTab.open(await browser.newContext(), server);
    });
    after(() => browser?.close());

    for (const [way, options] of Object.entries(ways)) {
      test(`${way}: the native program's ids`, async (t) => {
        const hasGpu = () => tab.page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
        if (options.backend === 'webgpu' && !(await hasGpu())) return t.skip(`${name} finds no adapter here`);
        const info = await tab.load(kModel, options);
        t.diagnostic(`${info.backend}; ${info.why}`);
        if (options.backend) assert.ok(info.backend.toLowerCase().startsWith(options.backend), info.backend);
        const {stats} = await tab.generate(story.prompt,
          {temperature: 0, maxTokens: story.ids.length, ignoreEos: true});
        assert.deepEqual(stats.tokens, story.ids);
        return tab.close();
      });
    }

    test('a reply is stopped, and the stored model works without the network', async () => {
      await tab.load(kModel, {backend: 'cpu'});
      const {stats} = await tab.generate(story.text, {maxTokens: 400, stopAfter: 3});
      assert.ok(stats.nGenerated < 100, `${stats.nGenerated}`);
      await tab.close();
      const before = server.requests.length;
      const {fromCache} = await tab.load(kModel, {backend: 'cpu'});
      assert.ok(fromCache || forgets);
      assert.equal(server.requestsFor(kModel, before).length, fromCache ? 0 : 1);
      const {text} = await tab.generate(story.text, {maxTokens: 5});
      assert.notEqual(text, '');
    });
  });
}
