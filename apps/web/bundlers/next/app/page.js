'use client';

import {useEffect, useState} from 'react';

export default function Page() {
  const [text, setText] = useState('');
  useEffect(() => {
    import('../story.js').then(({tellStory}) => tellStory(setText));
  }, []);
  return <p id="story">{text}</p>;
}
