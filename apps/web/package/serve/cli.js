#!/usr/bin/env node
// npx tern-web serve: the page that runs models in a browser, from the package, where it is built already.

import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {pageServer} from './server.js';

const kUsage = `usage: tern-web serve [--port N] [--host ADDRESS] [--model FILE] [--site FOLDER]

Serves the page that runs models in a browser tab, at http://127.0.0.1:8080/. Models run in the tab, not here.
  --port N        0: any that is free
  --host ADDRESS  where to listen. Browsers give threads to pages of localhost, and to others only by https
  --model FILE    a .gguf file instead of the model that comes with the page
  --site FOLDER   the page's folder, if not the one in the package
`;
const kPackage = fileURLToPath(new URL('..', import.meta.url));

function fail(text, code = 1) {
  process.stderr.write(`tern-web: ${text}\n`);
  process.exit(code);
}

function optionsOf(args) {
  const text = {type: 'string'};
  try {
    return parseArgs({args, allowPositionals: true,
      options: {port: text, host: text, model: text, site: text, help: {type: 'boolean', short: 'h'}}});
  } catch (error) {
    return fail(`${error.message}; see tern-web --help`, 2);
  }
}

const {values, positionals} = optionsOf(process.argv.slice(2));
if (values.help || positionals.length === 0) {
  process.stdout.write(kUsage);
  process.exit(0);
}
if (positionals.length > 1 || positionals[0] !== 'serve') fail(`'${positionals.join(' ')}': the command is serve`, 2);
const port = Number(values.port ?? 8080);
if (!Number.isInteger(port) || port < 0 || port > 65535 || values.port === '') {
  fail(`--port ${values.port}: a whole number from 0 to 65535 was expected`, 2);
}
const site = path.resolve(values.site ?? path.join(kPackage, 'page'));
if (!existsSync(path.join(site, 'index.html'))) {
  fail(`${site} has no index.html; apps/web/make_site of Tern's source makes it, and the published package has it`);
}
const model = values.model === undefined ? undefined : path.resolve(values.model);
if (model !== undefined && !statSync(model, {throwIfNoEntry: false})?.isFile()) fail(`--model ${model}: no such file`);

const server = pageServer({
  // The package has its engines once.
  folders: [{at: [], folder: site}, {at: ['tern', 'dist'], folder: path.join(kPackage, 'dist')}],
  files: model === undefined ? {} : {'/models/tern-stories.gguf': model},
});
server.on('error', (error) => fail(error.code === 'EADDRINUSE' ?
  `port ${port} is in use; take another, such as --port 0` : error.message));
server.listen(port, values.host ?? '127.0.0.1', () => {
  const {address, port: actual, family} = server.address();
  process.stdout.write(`http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/\n`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
