// What is shown to those who have never written anything: how the page's own model answers. Written by
// tests/golden/make_default_model_goldens.py.

export const kExample = {
  asked: 'Tell me a story about a hedgehog and a key.',
  reply: 'Once upon a time, there was a hedgehog named Thistle, who had lost a shiny key in the cave' +
    ' and could not sleep because of it. In the evening he saw a nest of twigs, and on it a ' +
    'stork with a happy smile. "Did you find a key?" asked Thistle. "No," whispered the stork, ' +
    '"but I found an egg! I wished for one for so long." "Would you like to see it?" The stork ' +
    'got up for a moment. …',
};
