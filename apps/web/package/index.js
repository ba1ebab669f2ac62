// Start here:
//
//   import {Tern} from 'tern-web';
//   const tern = await Tern.load('models/tern-stories.gguf');
//   for await (const piece of tern.generate('Once upon a time')) console.log(piece);

import './lib/in_page.js';

export * from './lib/api.js';
