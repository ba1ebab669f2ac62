// What somebody sees who has never written anything: a story that the page's own model has told.
//
//   tern run -p 'The lighthouse keeper had a secret.' --seed 13 --stop $'\nAfter'

export const kExample = {
  given: 'The lighthouse keeper had a secret.',
  text: ' It was a big box. He wanted to know what was inside the box. He went to the box and looked inside. There ' +
    'was a toy inside. The toy was a little bit broken.\n' +
    'The man saw the toy and smiled. He said, "Let\'s play with the toy and make it fun." They played with the toy ' +
    'all day and had lots of fun.',
};
