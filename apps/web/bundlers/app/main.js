import {tellStory} from './story.js';

tellStory((text) => {
  document.querySelector('#story').textContent = text;
});
