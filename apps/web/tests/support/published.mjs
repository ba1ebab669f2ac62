// The list of published models as a module of the package, made from the native program's.

import {tern} from './project.mjs';

/** @returns {string} the text of lib/published.js */
export function published() {
  const models = JSON.parse(tern('models', '--json'));
  const lines = models.flatMap((m) => [
    '  {',
    `    name: '${m.name}', address: 'hf:${m.hub.replace(':', '/')}',`,
    `    format: '${m.format}', license: '${m.license}', downloadBytes: ${m.download_bytes},`,
    `    memoryBytes: ${m.memory_bytes}, memoryTokens: ${m.memory_tokens},`,
    '  },',
  ]);
  const head = '// The published models that Tern is known to run: `tern models --json` as a script. ' +
    'make_published.mjs writes it.';
  return [head, '', 'export const kPublished = [', ...lines, '];', ''].join('\n');
}
