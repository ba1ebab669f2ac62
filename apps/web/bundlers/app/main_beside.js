// For bundlers that leave `new URL(…, import.meta.url)` alone: the package's folder lies beside the page, as tern/.
import {tellStory} from './story.js';

tellStory((text) => {
  document.querySelector('#story').textContent = text;
}, {baseUrl: 'tern/'});
