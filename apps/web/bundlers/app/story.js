// What every project builds: 40 tokens of a story, chosen greedily, and what they ran on.
import {Tern} from 'tern-web';

/** @param {(text: string) => void} show @param {import('tern-web').LoadOptions} [options] */
export async function tellStory(show, options = {}) {
  try {
    const tern = await Tern.load('/models/tern-stories.gguf', options);
    let text = '';
    for await (const piece of tern.generate('Once upon a time', {temperature: 0, maxTokens: 40})) {
      text += piece;
      show(text);
    }
    document.documentElement.dataset.flavor = tern.info.flavor;
    document.documentElement.dataset.why = tern.info.why;
    document.title = 'done';
  } catch (error) {
    show(`${error.name}: ${error.message}`);
    document.title = 'failed';
  }
}
